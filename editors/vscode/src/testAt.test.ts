import * as assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAt } from './testAt';

const rust = `
fn helper() {
}

/// Counts.
#[test]
#[should_panic]
fn counts() {
    let n = 1;
}

    #[tokio::test(flavor = "multi_thread")]
    async fn waits() {}
`.split('\n');

test('a Rust test is the function around the cursor, if an attribute makes it one', () => {
  const at = (text: string) => testAt(rust, rust.findIndex((line) => line.includes(text)), 'rust')?.name;
  assert.deepEqual([at('let n'), at('fn counts'), at('fn waits')], ['counts', 'counts', 'waits']);
  assert.deepEqual([at('helper'), testAt([], 0, 'rust'), testAt(rust, 0, 'rust')], [undefined, undefined, undefined]);
});

test('a test of GoogleTest has its suite in its name', () => {
  const lines = ['static int helper()', '{', '}', '', 'TEST_F(Queue, KeepsOrder) {', '  int a;', '}', 'int after;'];
  assert.deepEqual(testAt(lines, 5, 'cpp'), { framework: 'googletest', name: 'Queue.KeepsOrder' });
  assert.deepEqual(testAt(lines, 6, 'cpp')?.name, 'Queue.KeepsOrder');
  assert.deepEqual([testAt(lines, 1, 'cpp'), testAt(lines, 7, 'cpp')], [undefined, undefined]);
});
