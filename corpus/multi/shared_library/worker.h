#pragma once
// Runs callback(argument) in a thread of its own.
class Worker {
  public:
    Worker(void (*callback)(void *), void *argument);
    ~Worker(); // joins
    static long completed; // how many callbacks have run; the library does not protect it
  private:
    struct State;
    State *state_;
};
