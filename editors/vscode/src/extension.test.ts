// The extension inside of a stand-in for VS Code, with a raddle that is a script: what it registers, and what its
// commands do. The real editor is not started.

import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import Module from 'node:module';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';

const project = fs.mkdtempSync(path.join(os.tmpdir(), 'raddle-vscode-'));
const raddle = path.join(project, 'raddle');
process.on('exit', () => fs.rmSync(project, { recursive: true }));

const commands = new Map<string, (...words: unknown[]) => Promise<unknown>>();
const errors: string[] = [];
const tasks: string[] = [];
const folders: (string | undefined)[] = [];
const panels: { webview: { html: string } }[] = [];
let tree: any;
let taskEnded: (event: unknown) => void = () => undefined;
let configurations: any[] = [{ name: 'mine' }];
let debugged: string | undefined;

const uri = (file: string) => ({ fsPath: file });
const settings = (section: string) => ({
  get: (name: string, otherwise: unknown) => (section === 'launch' ? configurations : name === 'server.path' ? raddle : otherwise),
  update: async (_: string, value: any[]) => void (configurations = value),
});
const editor = {
  EventEmitter: class {
    event = () => undefined;
    fire() {}
  },
  TreeItem: class {
    constructor(public label: string, public collapsibleState: number) {}
  },
  TreeItemCollapsibleState: { None: 0, Collapsed: 1 },
  ThemeIcon: class {
    constructor(public id: string) {}
  },
  Position: class {
    constructor(public line: number, public character: number) {}
  },
  Range: class {
    constructor(public start: unknown, public end: unknown) {}
  },
  ShellExecution: class {
    constructor(public line: string, public options: { cwd?: string }) {}
  },
  Task: class {
    constructor(public definition: unknown, public scope: unknown, public name: string, public source: string, public execution: { line: string }) {}
  },
  Uri: { file: uri },
  ViewColumn: { Beside: -2 },
  ConfigurationTarget: { WorkspaceFolder: 3 },
  commands: {
    registerCommand: (name: string, does: (...words: unknown[]) => Promise<unknown>) => commands.set(name, does),
  },
  window: {
    createTreeView: (_: string, options: { treeDataProvider: unknown }) => (tree = options.treeDataProvider),
    showErrorMessage: async (text: string) => void errors.push(text),
    activeTextEditor: undefined as unknown,
    showInputBox: async ({ value }: { value: string }) => value.replace(/.*\.\/\w+/, '--seconds 5 -- ./queue_test'),
    createWebviewPanel: () => panels[panels.push({ webview: { html: '' } }) - 1],
  },
  workspace: {
    workspaceFolders: [{ uri: uri(project) }],
    getWorkspaceFolder: () => undefined,
    getConfiguration: settings,
    onDidChangeConfiguration: () => undefined,
    asRelativePath: (of: { fsPath: string }) => path.relative(project, of.fsPath),
    findFiles: async () => [],
  },
  tasks: {
    executeTask: async (task: { execution: { line: string; options: { cwd?: string } } }) => {
      tasks.push(task.execution.line);
      folders.push(task.execution.options.cwd);
    },
    onDidEndTaskProcess: (does: (event: unknown) => void) => (taskEnded = does),
  },
  extensions: { getExtension: () => ({}) },
  debug: { startDebugging: async (_: unknown, name: string) => void (debugged = name) },
};
const client = {
  LanguageClient: class {
    async start() {}
    async stop() {}
  },
};

const load = (Module as any)._load;
(Module as any)._load = (name: string, ...rest: unknown[]) =>
  name === 'vscode' ? editor : name === 'vscode-languageclient/node' ? client : load(name, ...rest);

const result = {
  message: { text: 'data race on `n`\n\nBoth write.' },
  locations: [{ physicalLocation: { artifactLocation: { uri: 'a.c' }, region: { startLine: 7, startColumn: 5 } } }],
  relatedLocations: [
    { physicalLocation: { artifactLocation: { uri: 'a.c' }, region: { startLine: 3 } }, message: { text: 'earlier: T1 wrote' } },
  ],
  properties: { confidence: 'confirmed', schedule: 'p-data-race-1.raddle' },
};

/// A raddle that prints `sarif` as its report; without one, there is nothing to report.
function stub(sarif?: object): void {
  fs.writeFileSync(path.join(project, 'report'), JSON.stringify(sarif ?? ''));
  const report = sarif ? `cat '${project}/report'` : 'echo "raddle: nothing has run in this project" >&2; exit 2';
  const body = `case $1 in report) ${report} ;; view) echo '${project}/page.html' ;; esac`;
  fs.writeFileSync(raddle, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

const call = (name: string, ...words: unknown[]) => commands.get(name)!(...words);

test('the extension', async (t) => {
  stub();
  const state = new Map<string, unknown>();
  await require('./extension').activate({
    subscriptions: [],
    globalStorageUri: uri(path.join(project, 'storage')),
    workspaceState: {
      get: (name: string, otherwise: unknown) => state.get(name) ?? otherwise,
      update: async (name: string, value: unknown) => void state.set(name, value),
    },
  });

  await t.test('registers every command that package.json names', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '../package.json'), 'utf8'));
    const named = manifest.contributes.commands.map((command: { command: string }) => command.command);
    assert.deepEqual(named.filter((name: string) => !commands.has(name)), []);
    const shown = Object.values<{ command: string }[]>(manifest.contributes.menus).flat();
    assert.deepEqual(shown.filter((entry) => !named.includes(entry.command)), []);
  });

  await t.test('says what raddle says when there is nothing to list', async () => {
    await call('raddle.refresh');
    assert.deepEqual(errors.splice(0), ['raddle: nothing has run in this project']);
    assert.deepEqual(tree.getChildren(), []);
  });

  await t.test('lists findings and their places', async () => {
    stub({ runs: [{ results: [result] }] });
    await call('raddle.refresh');
    const [finding] = tree.getChildren();
    const shown = tree.getTreeItem(finding);
    assert.deepEqual([shown.label, shown.description, shown.contextValue], ['data race on `n`', 'a.c:7', 'replayable']);
    assert.deepEqual([shown.iconPath.id, shown.tooltip], ['error', result.message.text]);
    assert.deepEqual(shown.command.arguments[1].selection.start, new editor.Position(6, 4));
    const [place] = tree.getChildren(finding);
    assert.deepEqual([tree.getTreeItem(place).label, tree.getChildren(place)], ['earlier: T1 wrote', []]);
  });

  await t.test('hunts in a terminal, and lists what there is then', async () => {
    await call('raddle.hunt');
    assert.deepEqual(tasks.splice(0), [`${raddle} hunt --seconds 5 -- ./queue_test`]);
    assert.equal(state.get('hunted'), '--seconds 5 -- ./queue_test');
    stub({ runs: [{ results: [result, result] }] });
    taskEnded({ execution: { task: { source: 'raddle' } } });
    while (tree.getChildren().length !== 2) {
      await new Promise((next) => setTimeout(next, 10));
    }
  });

  await t.test('hunts the test at the cursor', async () => {
    await call('raddle.huntTest');
    assert.match(errors.splice(0)[0], /put the cursor into a test/);
    const at = (languageId: string, text: string, line: number) => ({
      document: { languageId, uri: uri(path.join(project, 'src/lib.rs')), getText: () => text, save: async () => true },
      selection: { active: { line } },
    });
    fs.writeFileSync(path.join(project, 'Cargo.toml'), '');
    editor.window.activeTextEditor = at('rust', '#[test]\nfn counts() {\n}', 1);
    folders.length = 0;
    await call('raddle.huntTest');
    assert.deepEqual(tasks.splice(0), [`${raddle} cargo test --no-run && ${raddle} hunt -- ${raddle} cargo test counts`]);
    assert.deepEqual(folders.splice(0), [project]);
    editor.window.activeTextEditor = at('cpp', 'TEST(Queue, Order) {\n}', 0);
    await call('raddle.huntTest');
    assert.deepEqual(tasks.splice(0), [`${raddle} hunt --seconds 5 -- ./queue_test --gtest_filter=Queue.Order`]);
    assert.equal(state.get('hunted'), '--seconds 5 -- ./queue_test');
    editor.window.activeTextEditor = undefined;
  });

  await t.test('shows the page of the interleavings', async () => {
    fs.writeFileSync(path.join(project, 'page.html'), '<h1>lanes</h1>');
    await call('raddle.showPage');
    assert.equal(panels[0].webview.html, '<h1>lanes</h1>');
  });

  await t.test('replays in the debugger by a launch configuration', async () => {
    const [finding] = tree.getChildren();
    await call('raddle.replay', finding);
    assert.match(errors.splice(0)[0], /p-data-race-1.raddle does not exist any more; hunt again/);
    const schedule = path.join(project, 'p-data-race-1.raddle');
    const head = { format: 'raddle.schedule', command: ['./p', '-v'], folder: project };
    fs.writeFileSync(schedule, `${JSON.stringify(head)}\n`);
    await call('raddle.replay', finding);
    assert.deepEqual(tasks.splice(0), [`${raddle} replay ${schedule}`]);

    await call('raddle.replayInDebugger', finding);
    await call('raddle.replayInDebugger', finding);
    assert.deepEqual(configurations.map((one) => one.name), ['mine', 'raddle: p-data-race-1']);
    assert.equal(debugged, 'raddle: p-data-race-1');
    const script = configurations[1].miDebuggerPath;
    assert.equal(fs.statSync(script).mode & 0o111, 0o111);
    assert.match(fs.readFileSync(script, 'utf8'), new RegExp(`replay --gdb ${schedule} -- "\\$@"`));
    assert.deepEqual(errors, []);
  });
});
