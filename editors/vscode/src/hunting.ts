// What is done with findings of real runs: list them, hunt for more, show their page, replay them.

import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { findings } from './findings';
import { gdbScript, launch, quoted, withLaunch } from './launch';
import { testAt } from './testAt';
import { FindingNode, FindingTree } from './tree';

/// A report of many findings is large.
const LARGEST_REPORT = 256 << 20;
/// Enough for the first line of a schedule, which has the program's environment in it.
const LARGEST_HEAD = 4 << 20;

export function register(context: vscode.ExtensionContext): void {
  const tree = new FindingTree();
  const command = (name: string, does: (...words: never[]) => Promise<unknown>) =>
    vscode.commands.registerCommand(name, (...words: never[]) => does(...words).catch(complain));
  context.subscriptions.push(
    vscode.window.createTreeView('raddle.findings', { treeDataProvider: tree }),
    command('raddle.refresh', () => refresh(tree)),
    command('raddle.hunt', () => hunt(context)),
    command('raddle.huntFile', () => huntFile()),
    command('raddle.huntTest', () => huntTest(context)),
    command('raddle.showPage', () => showPage()),
    command('raddle.replay', (node?: FindingNode) => replay(node)),
    command('raddle.replayInDebugger', (node?: FindingNode) => replayInDebugger(context, node)),
    vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution.task.source === 'raddle') {
        void refresh(tree).catch(complain);
      }
    }),
  );
  // A project in which nothing has run yet has no findings; that is no reason to complain.
  void refresh(tree).catch(() => undefined);
}

function complain(error: unknown): void {
  const said = (error as { stderr?: string }).stderr?.trim() || (error instanceof Error ? error.message : String(error));
  void vscode.window.showErrorMessage(said.startsWith('raddle: ') ? said : `raddle: ${said}`);
}

function command(): string {
  return vscode.workspace.getConfiguration('raddle').get<string>('server.path', 'raddle');
}

function folder(): vscode.WorkspaceFolder {
  const open = vscode.window.activeTextEditor?.document.uri;
  const own = open && vscode.workspace.getWorkspaceFolder(open);
  const any = own ?? vscode.workspace.workspaceFolders?.[0];
  if (any === undefined) {
    throw new Error('open the folder of the project first');
  }
  return any;
}

async function raddle(...words: string[]): Promise<string> {
  const options = { cwd: folder().uri.fsPath, maxBuffer: LARGEST_REPORT };
  return (await promisify(execFile)(command(), words, options)).stdout;
}

async function refresh(tree: FindingTree): Promise<void> {
  tree.show(findings(await raddle('report', '--format', 'sarif'), folder().uri.fsPath));
}

/// In a terminal, where the hunt says how far it is; the tree is read anew when it ends.
async function run(words: string, cwd?: string): Promise<void> {
  const line = new vscode.ShellExecution(`${quoted(command())} ${words}`, { cwd });
  const task = new vscode.Task({ type: 'raddle' }, folder(), words, 'raddle', line);
  await vscode.tasks.executeTask(task);
}

async function hunt(context: vscode.ExtensionContext, filter = ''): Promise<void> {
  const last = context.workspaceState.get<string>('hunted', '--minutes 1 -- ./test');
  const words = await vscode.window.showInputBox({
    title: 'Hunt',
    prompt: 'Arguments of raddle hunt: options, then -- and the test, or --ctest FOLDER',
    value: last + filter,
  });
  if (words !== undefined) {
    await context.workspaceState.update('hunted', filter === '' ? words : words.replace(filter, ''));
    await run(`hunt ${words}`);
  }
}

async function huntFile(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined || !['c', 'cpp'].includes(document.languageId)) {
    throw new Error('open a C or C++ file with a main function first');
  }
  await document.save();
  await run(`hunt ${quoted(document.uri.fsPath)}`);
}

/// A Rust test is built and hunted through cargo. For GoogleTest the program is asked for.
async function huntTest(context: vscode.ExtensionContext): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const lines = editor?.document.getText().split('\n') ?? [];
  const test = editor && testAt(lines, editor.selection.active.line, editor.document.languageId);
  if (editor === undefined || test === undefined) {
    throw new Error('put the cursor into a test: a #[test] of Rust, or a TEST of GoogleTest');
  }
  await editor.document.save();
  if (test.framework === 'googletest') {
    return hunt(context, ` --gtest_filter=${test.name}`);
  }
  const raddle = quoted(command());
  const words = `cargo test --no-run && ${raddle} hunt -- ${raddle} cargo test ${test.name}`;
  await run(words, await packageOf(editor.document.uri.fsPath));
}

/// The nearest folder upward with a Cargo.toml.
async function packageOf(file: string): Promise<string | undefined> {
  for (let dir = path.dirname(file); dir !== path.dirname(dir); dir = path.dirname(dir)) {
    if (await fs.access(path.join(dir, 'Cargo.toml')).then(() => true, () => false)) {
      return dir;
    }
  }
  return undefined;
}

async function showPage(): Promise<void> {
  const page = (await raddle('view', '--print')).trim();
  const panel = vscode.window.createWebviewPanel('raddle.page', 'raddle', vscode.ViewColumn.Beside, {
    enableScripts: true,
    localResourceRoots: [],
    retainContextWhenHidden: true,
  });
  panel.webview.html = await fs.readFile(page, 'utf8');
}

async function scheduleOf(node?: FindingNode): Promise<string> {
  if (node === undefined) {
    const filters = { 'raddle schedules': ['raddle'] };
    const chosen = await vscode.window.showOpenDialog({ title: 'Schedule to replay', filters });
    if (chosen === undefined) {
      throw new Error('no schedule was chosen');
    }
    return chosen[0].fsPath;
  }
  const schedule = node.finding.schedule;
  if (schedule === undefined) {
    throw new Error('this finding has no schedule');
  }
  if (await fs.access(schedule).then(() => true, () => false)) {
    return schedule;
  }
  // The hunt was in another folder of the project.
  const [found] = await vscode.workspace.findFiles(`**/${path.basename(schedule)}`, undefined, 1);
  if (found === undefined) {
    throw new Error(`${schedule} does not exist any more; hunt again`);
  }
  return found.fsPath;
}

async function replay(node?: FindingNode): Promise<void> {
  await run(`replay ${quoted(await scheduleOf(node))}`);
}

/// Writes a launch configuration, which can be started again later, and starts it.
async function replayInDebugger(context: vscode.ExtensionContext, node?: FindingNode): Promise<void> {
  const schedule = await scheduleOf(node);
  const script = path.join(context.globalStorageUri.fsPath, `${path.basename(schedule, '.raddle')}.gdb.sh`);
  const file = await fs.open(schedule);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LARGEST_HEAD), 0, LARGEST_HEAD, 0);
  await file.close();
  const made = launch(schedule, buffer.toString('utf8', 0, bytesRead), script);
  await fs.mkdir(path.dirname(script), { recursive: true });
  await fs.writeFile(script, gdbScript(command(), schedule), { mode: 0o755 });
  const settings = vscode.workspace.getConfiguration('launch', folder().uri);
  const present = settings.get<{ name?: string }[]>('configurations', []);
  await settings.update('configurations', withLaunch(present, made), vscode.ConfigurationTarget.WorkspaceFolder);
  if (vscode.extensions.getExtension('ms-vscode.cpptools') === undefined) {
    throw new Error(`"${made.name}" is in launch.json; install the C/C++ extension (ms-vscode.cpptools) to start it`);
  }
  await vscode.debug.startDebugging(folder(), made.name);
}
