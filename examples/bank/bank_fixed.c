/* The bank of bank.c, repaired: `served` is atomic, and two accounts are always locked in the same order.
 *
 *     raddle cc -g -O1 -pthread bank_fixed.c -o bank_fixed
 *     raddle run -- ./bank_fixed
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    const char *owner;
    long balance;
};

struct order {
    struct account *from, *to;
    long amount;
};

struct teller {
    const char *name;
    const struct order *orders;
    int count;
    int opens_after_ms;
};

struct account alice = {PTHREAD_MUTEX_INITIALIZER, "alice", 500};
struct account bob = {PTHREAD_MUTEX_INITIALIZER, "bob", 500};

atomic_long served; /* customers, of both tellers */

/* By address, whatever the direction of the money. */
static void lock_both(struct account *a, struct account *b)
{
    struct account *first = (uintptr_t)a < (uintptr_t)b ? a : b;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(first == a ? &b->lock : &a->lock);
}

static void transfer(struct account *from, struct account *to, long amount)
{
    lock_both(from, to);
    if (from->balance >= amount) {
        from->balance -= amount;
        to->balance += amount;
    }
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *work(void *argument)
{
    const struct teller *teller = argument;
    pthread_setname_np(pthread_self(), teller->name);
    usleep(teller->opens_after_ms * 1000);
    for (int i = 0; i < teller->count; i++) {
        const struct order *order = &teller->orders[i];
        transfer(order->from, order->to, order->amount);
        served++;
    }
    return NULL;
}

int main(void)
{
    static const struct order morning[] = {{&alice, &bob, 100}, {&alice, &bob, 20}, {&alice, &bob, 3}};
    static const struct order afternoon[] = {{&bob, &alice, 70}, {&bob, &alice, 7}};
    struct teller tellers[] = {{"morning", morning, 3, 0}, {"afternoon", afternoon, 2, 50}};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &tellers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);

    printf("%s has %ld, %s has %ld, %ld customers\n", alice.owner, alice.balance, bob.owner, bob.balance, served);
    return alice.balance + bob.balance == 1000 && served == 5 ? 0 : 1;
}
