// expect: nothing
// A page is made writable by the handler of the fault, and the instruction is tried again.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

static char *page;
static atomic_int faults;

static void make_writable(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    atomic_fetch_add(&faults, 1);
}

static void *writer(void *arg) {
    page[0] = 1;
    return arg;
}

int main(void) {
    page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {0};
    action.sa_sigaction = make_writable;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    pthread_join(t, 0);
    assert(atomic_load(&faults) == 1 && page[0] == 1);
    return 0;
}
