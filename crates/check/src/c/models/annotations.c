/* The annotations of ThreadSanitizer, as functions, and as the macros of its header for programs
   whose header is missing. */
void AnnotateHappensBefore(const char *f, int l, const volatile void *o) { __raddle_publish(o); }
void AnnotateHappensAfter(const char *f, int l, const volatile void *o) { __raddle_learn(o); }
void AnnotateCondVarSignal(const char *f, int l, const volatile void *o) { __raddle_publish(o); }
void AnnotateCondVarSignalAll(const char *f, int l, const volatile void *o) { __raddle_publish(o); }
void AnnotateCondVarWait(const char *f, int l, const volatile void *o, const volatile void *m) { __raddle_learn(o); }
void AnnotateRWLockCreate(const char *f, int l, const volatile void *o) { __raddle_lock_init(o, 3); }
void AnnotateRWLockDestroy(const char *f, int l, const volatile void *o) { __raddle_lock_destroy(o); }
void AnnotateRWLockAcquired(const char *f, int l, const volatile void *o, long w) { if (w) __raddle_write_lock(o); else __raddle_read_lock(o); }
void AnnotateRWLockReleased(const char *f, int l, const volatile void *o, long w) { __raddle_rw_unlock(o); }
void AnnotatePublishMemoryRange(const char *f, int l, const volatile void *p, size_t n) { __raddle_benign(p, n); }
void AnnotateUnpublishMemoryRange(const char *f, int l, const volatile void *p, size_t n) { }
void AnnotateNewMemory(const char *f, int l, const volatile void *p, size_t n) { __raddle_benign(p, n); }
void AnnotateBenignRace(const char *f, int l, const volatile void *p, const char *why) { __raddle_benign(p, 1); }
void AnnotateBenignRaceSized(const char *f, int l, const volatile void *p, size_t n, const char *why) { __raddle_benign(p, n); }
void AnnotateExpectRace(const char *f, int l, const volatile void *p, const char *why) { __raddle_benign(p, 1); }
void AnnotateIgnoreReadsBegin(const char *f, int l) { __raddle_ignore(0, 1); }
void AnnotateIgnoreReadsEnd(const char *f, int l) { __raddle_ignore(0, -1); }
void AnnotateIgnoreWritesBegin(const char *f, int l) { __raddle_ignore(1, 1); }
void AnnotateIgnoreWritesEnd(const char *f, int l) { __raddle_ignore(1, -1); }
void AnnotateThreadName(const char *f, int l, const char *n) { }
int RunningOnValgrind(void) { return 0; }
void __tsan_acquire(void *o) { __raddle_learn(o); }
void __tsan_release(void *o) { __raddle_publish(o); }
void __tsan_mutex_create(void *m, unsigned f) { __raddle_lock_init(m, 3); }
void __tsan_mutex_destroy(void *m, unsigned f) { __raddle_lock_destroy(m); }
void __tsan_mutex_post_lock(void *m, unsigned f, int n) { __raddle_learn(m); }
int __tsan_mutex_pre_unlock(void *m, unsigned f) { __raddle_publish(m); return 0; }
void ANNOTATE_HAPPENS_BEFORE(const volatile void *o) { __raddle_publish(o); }
void ANNOTATE_HAPPENS_AFTER(const volatile void *o) { __raddle_learn(o); }
void ANNOTATE_CONDVAR_SIGNAL(const volatile void *o) { __raddle_publish(o); }
void ANNOTATE_CONDVAR_SIGNAL_ALL(const volatile void *o) { __raddle_publish(o); }
void ANNOTATE_CONDVAR_WAIT(const volatile void *o) { __raddle_learn(o); }
void ANNOTATE_CONDVAR_LOCK_WAIT(const volatile void *o, const volatile void *m) { __raddle_learn(o); }
void ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX(const volatile void *o) { }
void ANNOTATE_RWLOCK_CREATE(const volatile void *o) { __raddle_lock_init(o, 3); }
void ANNOTATE_RWLOCK_DESTROY(const volatile void *o) { __raddle_lock_destroy(o); }
void ANNOTATE_RWLOCK_ACQUIRED(const volatile void *o, long w) { AnnotateRWLockAcquired(0, 0, o, w); }
void ANNOTATE_RWLOCK_RELEASED(const volatile void *o, long w) { __raddle_rw_unlock(o); }
void ANNOTATE_PUBLISH_MEMORY_RANGE(const volatile void *p, size_t n) { __raddle_benign(p, n); }
void ANNOTATE_UNPUBLISH_MEMORY_RANGE(const volatile void *p, size_t n) { }
void ANNOTATE_NEW_MEMORY(const volatile void *p, size_t n) { __raddle_benign(p, n); }
void ANNOTATE_BENIGN_RACE(const volatile void *p, const char *why) { __raddle_benign(p, 1); }
void ANNOTATE_BENIGN_RACE_SIZED(const volatile void *p, size_t n, const char *why) { __raddle_benign(p, n); }
void ANNOTATE_EXPECT_RACE(const volatile void *p, const char *why) { __raddle_benign(p, 1); }
void ANNOTATE_IGNORE_READS_BEGIN(void) { __raddle_ignore(0, 1); }
void ANNOTATE_IGNORE_READS_END(void) { __raddle_ignore(0, -1); }
void ANNOTATE_IGNORE_WRITES_BEGIN(void) { __raddle_ignore(1, 1); }
void ANNOTATE_IGNORE_WRITES_END(void) { __raddle_ignore(1, -1); }
void ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN(void) { __raddle_ignore(0, 1); __raddle_ignore(1, 1); }
void ANNOTATE_IGNORE_READS_AND_WRITES_END(void) { __raddle_ignore(0, -1); __raddle_ignore(1, -1); }
