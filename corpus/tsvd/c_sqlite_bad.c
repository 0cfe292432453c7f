//@ pair 1: different-keys often
//@ libs: -lsqlite3
// A connection opened without its mutex must not be used by two threads at once, whatever rows they want.
#include <pthread.h>
#include <sqlite3.h>
#include "work.h"

static sqlite3 *db;

static void *auditor(void *arg) {
    (void)arg;
    for (int i = 0; i < 180; i++) {
        work(4);
        sqlite3_exec(db, "select count(*) from t where k = 2", 0, 0, 0);    // expect: thread-safety-violation write #1
    }
    return 0;
}

int main(void) {
    pthread_t auditing;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(":memory:", &db, flags, 0) != SQLITE_OK) return 1;
    sqlite3_exec(db, "create table t(k int, v int); insert into t values (1, 0), (2, 0)", 0, 0, 0);
    pthread_create(&auditing, 0, auditor, 0);
    for (int i = 0; i < 180; i++) {
        work(5);
        sqlite3_exec(db, "select v from t where k = 1", 0, 0, 0);    // expect: thread-safety-violation write #1
    }
    pthread_join(auditing, 0);
    sqlite3_close(db);
    return 0;
}
