// expect: crash
//@ always
// The stack that the thread asks for is smaller than what it uses.
// Fails when: always.
#include <pthread.h>

__attribute__((noinline)) static int deep(int levels, volatile char *above)
{
    volatile char room[1 << 16];
    room[0] = above ? above[0] : 1;
    if (levels == 0) return room[0];
    return deep(levels - 1, room) + room[0];
}

static void *work(void *levels)
{
    return (void *)(long)deep(*(int *)levels, 0);
}

int main(void)
{
    int many = 3000;
    pthread_attr_t small;
    pthread_t a;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 20);
    pthread_create(&a, &small, work, &many);
    pthread_join(a, 0);
    return 0;
}
