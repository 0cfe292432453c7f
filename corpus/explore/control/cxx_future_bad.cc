// expect: deadlock
//@ bound: 0
//@ always
// Two tasks that each wait for the other's result.
#include <future>
#include <thread>

int main() {
    std::promise<int> first, second;
    auto of_first = first.get_future(), of_second = second.get_future();
    std::thread a([&] { first.set_value(of_second.get()); });  // expect: deadlock here
    std::thread b([&] { second.set_value(of_first.get()); });  // expect: deadlock here
    a.join();                                           // expect: deadlock here
    b.join();
}
