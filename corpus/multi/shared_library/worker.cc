// A library that starts threads for its users, and counts them carelessly.
#include "worker.h"
#include <thread>

struct Worker::State { std::thread thread; };
long Worker::completed;

Worker::Worker(void (*callback)(void *), void *argument) : state_(new State) {
    state_->thread = std::thread([=] {
        callback(argument);
        completed = 1;                                  // expect: data-race write #1
    });
}

Worker::~Worker() {
    state_->thread.join();
    delete state_;
}
