/* The parts of libSystem's blocks and queues that the program uses. */
#include "apple.h"
#include "record.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

API void *_NSConcreteGlobalBlock[32], *_NSConcreteStackBlock[32];

/* Global blocks are never copied. */
API void *_Block_copy(const void *block) { return (void *)(uintptr_t)block; }
API void _Block_release(const void *block) { (void)block; }

API void *dispatch_semaphore_create(long value) {
  sem_t *semaphore = malloc(sizeof *semaphore);
  sem_init(semaphore, 0, (unsigned)value);
  return semaphore;
}

API long dispatch_semaphore_signal(sem_t *semaphore) { return sem_post(semaphore); }

/** Nanoseconds from now; ~0 means forever. */
API uint64_t dispatch_time(uint64_t when, int64_t delta) {
  struct timespec now;
  if (when == ~(uint64_t)0) return when;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t start = when ? when : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  return start + (uint64_t)delta;
}

API long dispatch_semaphore_wait(sem_t *semaphore, uint64_t until) {
  if (until == ~(uint64_t)0) return sem_wait(semaphore);
  struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
  return until ? sem_timedwait(semaphore, &time) : sem_trywait(semaphore);
}

typedef struct {
  void *context;
  void (*work)(void *);
} Job;

static void *run(void *given) {
  Job job = *(Job *)given;
  free(given);
  job.work(job.context);
  return NULL;
}

API void dispatch_async_f(void *queue, void *context, void (*work)(void *)) {
  (void)queue;
  Job *job = malloc(sizeof *job);
  *job = (Job){context, work};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, job) == 0) pthread_detach(thread);
  else free(job);
}
