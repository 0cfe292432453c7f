// expect: nothing
// A handler that wants the stack of `sigaltstack` runs there, and is told where the thread was.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

static char stacks[2][1 << 16];
static __thread char *own;
static __thread volatile int handled;

static void handler(int signal, siginfo_t *info, void *context)
{
    char here;
    assert(&here >= own && &here < own + sizeof stacks[0]);
    assert(((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] != 0 && info->si_signo == signal);
    handled = 1;
}

static void *work(void *stack)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stacks[0]};
    own = stack;
    sigaltstack(&alternate, 0);
    pthread_kill(pthread_self(), SIGUSR1);
    assert(handled);
    return 0;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    pthread_t a, b;
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&a, 0, work, stacks[0]);
    pthread_create(&b, 0, work, stacks[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
