// A record is copied whole while another thread writes one member.
#include <pthread.h>
#include <string.h>

struct config { char name[24]; int level; };
static struct config config;

static void *reader(void *arg) {
    struct config mine;
    memcpy(&mine, &config, sizeof mine); // expect: data-race read #1
    return (void *)(long)mine.level;
}

static void *writer(void *arg) {
    config.level = 3; // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
