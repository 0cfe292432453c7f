// expect: nothing
// A small file system: each thread gives an inode a free block, under the lock of the block's group.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

enum { INODES = 3, BLOCKS = 4, GROUPS = 2 };
int block_of[INODES], busy[BLOCKS];
pthread_mutex_t inode_mu[INODES], block_mu[GROUPS];

void *creator(void *arg) {
    int inode = (intptr_t)arg;
    pthread_mutex_lock(&inode_mu[inode]);
    pthread_mutex_t *mu = &block_mu[0]; // all blocks here are of group 0
    pthread_mutex_lock(mu);
    for (int b = 0; b < BLOCKS; b++) {
        if (busy[b]) continue;
        busy[b] = 1;
        block_of[inode] = b + 1;
        break;
    }
    pthread_mutex_unlock(mu);
    pthread_mutex_unlock(&inode_mu[inode]);
    return arg;
}

int main(void) {
    pthread_t t[INODES];
    for (int i = 0; i < INODES; i++) pthread_mutex_init(&inode_mu[i], 0);
    for (int i = 0; i < GROUPS; i++) pthread_mutex_init(&block_mu[i], 0);
    for (intptr_t i = 0; i < INODES; i++) pthread_create(&t[i], 0, creator, (void *)i);
    for (int i = 0; i < INODES; i++) pthread_join(t[i], 0);
    for (int i = 0; i < INODES; i++)
        for (int j = 0; j < i; j++) assert(block_of[i] != block_of[j]);
    return 0;
}
