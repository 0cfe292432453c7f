// One regular expression for two threads, each with matches of its own; without room for matches
// none are written.
// expect: nothing
#define _GNU_SOURCE
#include <glob.h>
#include <netdb.h>
#include <pthread.h>
#include <regex.h>

static regex_t expression, plain;
static regmatch_t unused[1];

static void *match(void *arg) {
    regmatch_t matches[2];
    struct protoent entry, *found;
    char room[1024];
    glob_t paths;
    regexec(&expression, "abc", 2, matches, 0);
    regexec(&expression, "abc", 0, unused, 0);
    regexec(&plain, "abc", 1, unused, 0);
    getprotobyname_r("tcp", &entry, room, sizeof room, &found);
    if (glob("/*", 0, 0, &paths) == 0) globfree(&paths);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    regcomp(&expression, "b", 0), regcomp(&plain, "b", REG_NOSUB);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, match, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    regfree(&expression), regfree(&plain);
    return 0;
}
