// "Replay in the debugger": a launch configuration for the C/C++ extension, and the command that it starts in place of
// gdb. Knows nothing of VS Code, so that it can be tested without.

import * as path from 'node:path';

/// The first line of a `.raddle` file, as far as a debugger wants to know.
interface Head {
  format: string;
  command: string[];
  folder: string;
}

export interface Launch {
  name: string;
  type: 'cppdbg';
  request: 'launch';
  MIMode: 'gdb';
  miDebuggerPath: string;
  program: string;
  args: string[];
  cwd: string;
  externalConsole: false;
}

/// The configuration for a schedule; `start` contains its first line, `debuggerPath` is the script of `gdbScript`.
export function launch(schedule: string, start: string, debuggerPath: string): Launch {
  const head = JSON.parse(start.split('\n', 1)[0]) as Head;
  if (head.format !== 'raddle.schedule') {
    throw new Error(`${schedule} is not a schedule`);
  }
  return {
    name: `raddle: ${path.basename(schedule, '.raddle')}`,
    type: 'cppdbg',
    request: 'launch',
    MIMode: 'gdb',
    miDebuggerPath: debuggerPath,
    program: path.resolve(head.folder, head.command[0]),
    args: head.command.slice(1),
    cwd: head.folder,
    externalConsole: false,
  };
}

/// What stands in for gdb: raddle, which starts gdb with the arguments of the debug adapter.
export function gdbScript(raddle: string, schedule: string): string {
  return `#!/bin/sh\nexec ${quoted(raddle)} replay --gdb ${quoted(schedule)} -- "$@"\n`;
}

/// One word for a shell.
export function quoted(word: string): string {
  return /^[\w./+:@%=-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/// The other configurations, and this one in place of an older one of its name.
export function withLaunch<T extends { name?: string }>(present: T[], launch: Launch): (T | Launch)[] {
  return [...present.filter((other) => other.name !== launch.name), launch];
}
