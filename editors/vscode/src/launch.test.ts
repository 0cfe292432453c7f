import * as assert from 'node:assert/strict';
import { test } from 'node:test';
import { gdbScript, launch, withLaunch } from './launch';

const START = '{"format":"raddle.schedule","version":1,"command":["./queue test","-v"],"folder":"/build"}\n…';

test('a launch configuration starts the program of the schedule', () => {
  const made = launch('/build/queue-deadlock-1.raddle', START, '/store/gdb');
  assert.equal(made.name, 'raddle: queue-deadlock-1');
  assert.deepEqual([made.program, made.args, made.cwd], ['/build/queue test', ['-v'], '/build']);
  assert.equal(made.miDebuggerPath, '/store/gdb');
  assert.throws(() => launch('/a.raddle', '{"format":"other"}\n', '/store/gdb'), /not a schedule/);
});

test('a configuration replaces the older one of its name only', () => {
  const made = launch('/build/queue-deadlock-1.raddle', START, '/store/gdb');
  const mine = { name: 'mine' };
  assert.deepEqual(withLaunch([mine, { name: made.name }], made), [mine, made]);
});

test('any path is one word of the script', () => {
  const script = gdbScript('raddle', "/it's here/a.raddle");
  assert.equal(script, `#!/bin/sh\nexec raddle replay --gdb '/it'\\''s here/a.raddle' -- "$@"\n`);
});
