/* bench: pointer chasing with allocation
 * full: 450000 3
 * reduced: 60000 5
 * quick: 3000 1
 *
 * Both threads look keys up in one long-lived search tree while each builds, walks and frees short-lived trees of
 * its own, node by node from malloc: the life of a compiler's or an interpreter's heap. */
#include "kernel.h"
#include <pthread.h>

enum { LIMB = 4095 };

struct node {
    struct node *left, *right;
    uint64_t key, value;
};

static long size, rounds;
static struct node *shared_root;
static uint64_t hashes[THREADS];

static void insert(struct node **link, uint64_t key, uint64_t value) {
    while (*link != NULL) {
        if ((*link)->key == key) return;
        link = key < (*link)->key ? &(*link)->left : &(*link)->right;
    }
    struct node *node = allocate(1, sizeof *node);
    node->key = key;
    node->value = value;
    *link = node;
}

static const struct node *lookup(const struct node *node, uint64_t key) {
    while (node != NULL && node->key != key) node = key < node->key ? node->left : node->right;
    return node;
}

static uint64_t walk(const struct node *node) {
    if (node == NULL) return 1;
    return mix(walk(node->left) + node->value, walk(node->right));
}

static void release(struct node *node) {
    if (node == NULL) return;
    release(node->left);
    release(node->right);
    free(node);
}

static void *work(void *argument) {
    long thread = (long)argument;
    uint64_t hash = 0, seed = 1000 + (uint64_t)thread;
    long limbs = rounds * (size / 10000 + 1);
    for (long limb = 0; limb < limbs; limb++) {
        struct node *root = NULL;
        for (long i = 0; i < LIMB; i++) {
            uint64_t key = next_random(&seed);
            insert(&root, key, (uint64_t)i);
            /* Half of the keys asked for are in the shared tree. */
            if (i % 4 == 0) {
                uint64_t replay = 3 + UINT64_C(0x9e3779b97f4a7c15) * (key % (uint64_t)(2 * size));
                const struct node *node = lookup(shared_root, next_random(&replay));
                hash = mix(hash, node != NULL ? node->value : 7);
            }
        }
        hash = mix(hash, walk(root));
        release(root);
    }
    hashes[thread] = hash;
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    uint64_t seed = 3;
    for (long i = 0; i < size; i++) insert(&shared_root, next_random(&seed), (uint64_t)i);

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    release(shared_root);
    print_checksum(mix(hashes[0], hashes[1]));
    return 0;
}
