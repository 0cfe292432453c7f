// expect: nothing
// A table that is filled before the threads start and only read by them: begin, find, at and size may be called at once.
#include <map>
#include <string>
#include <thread>
#include <vector>
#include "work.h"

std::map<int, std::string> words;

void reader(long* letters) {
    for (int i = 0; i < 240; i++) {
        work(4);
        auto word = words.find(i % 20);
        *letters += long(word->second.size() + words.at(i % 20).size() + words.size());
        *letters += long(words.begin()->second.size());
    }
}

int main() {
    for (int i = 0; i < 20; i++) words[i] = std::string(i + 1, 'x');
    long one = 0, two = 0;
    std::thread other(reader, &one);
    reader(&two);
    other.join();
    return one == two ? 0 : 1;
}
