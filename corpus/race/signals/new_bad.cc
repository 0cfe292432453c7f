// A handler that makes a string allocates, whatever it is called. What the C++ library
// allocates is told of the handler.
#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <unistd.h>

std::atomic<int> handled;
std::string *volatile made;

void handler(int) {                                     // expect: signal-unsafe-call #1
    made = new std::string(100, 'x');                   // expect: signal-unsafe-call #1
    delete made;                                        // expect: signal-unsafe-call #2
    handled = 1;
}

int main() {
    std::signal(SIGUSR1, handler);
    std::thread t([] { while (!handled) usleep(100); });
    pthread_kill(t.native_handle(), SIGUSR1);
    t.join();
}
