// Locks of libraries that are not there, known by their names only.
#include <glib.h>
#include <SDL.h>
#include <pthread.h>

static GMutex lock;
static SDL_mutex *other;
static int counter, total, twice;

static void add(int n) {
    EnterCriticalSection(&twice_lock);
    twice += n;
    LeaveCriticalSection(&twice_lock);
}

static void *worker(void *arg) {
    g_mutex_lock(&lock);
    counter++;
    g_mutex_unlock(&lock);
    SDL_LockMutex(other);
    total++;
    SDL_UnlockMutex(other);
    EnterCriticalSection(&twice_lock);
    add(1);
    twice++;
    LeaveCriticalSection(&twice_lock);
    return NULL;
}

int main(void) {
    pthread_t t[2];
    other = SDL_CreateMutex();
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return counter + total + twice;
}
