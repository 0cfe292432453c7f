#pragma once
#ifdef __cplusplus
extern "C" {
#endif
// A list of longs with a lock of its own, which list_empty does not take.
void list_push(long value);
long list_sum(void);
int list_empty(void);
#ifdef __cplusplus
}
#endif
