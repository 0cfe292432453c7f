// expect: use-after-free
// C++: a session is closed and freed between a look at it and its use.
#include <mutex>
#include <thread>

struct Session {
    int bytes = 0;
};
Session *session = new Session;
std::mutex lock;

Session *find() {
    std::lock_guard<std::mutex> guard(lock);
    return session;
}

void send() {
    if (Session *s = find()) s->bytes += 10;
}

void close() {
    Session *old;
    {
        std::lock_guard<std::mutex> guard(lock);
        old = session;
        session = nullptr;
    }
    delete old;
}

int main() {
    std::thread a(send), b(close);
    a.join();
    b.join();
    return 0;
}
