// expect: nothing
// The twin of freed_session_bad.cc: whoever uses the session holds a share of it.
#include <memory>
#include <mutex>
#include <thread>

struct Session {
    int bytes = 0;
};
std::shared_ptr<Session> session = std::make_shared<Session>();
std::mutex lock;

std::shared_ptr<Session> find() {
    std::lock_guard<std::mutex> guard(lock);
    return session;
}

void send() {
    if (std::shared_ptr<Session> s = find()) s->bytes += 10;
}

void close() {
    std::shared_ptr<Session> old;
    std::lock_guard<std::mutex> guard(lock);
    old.swap(session);
}

int main() {
    std::thread a(send), b(close);
    a.join();
    b.join();
    return 0;
}
