// Raddle in VS Code: starts `raddle lsp` and asks for the reason when a finding is to be ignored. What is underlined is
// the server's; findings of hunts are in `hunting`.

import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';
import { register } from './hunting';
import { Mark, marked } from './mark';

let client: LanguageClient | undefined;

/// C is checked; the others show what `raddle run` has found.
const LANGUAGES = ['c', 'cpp', 'csharp', 'rust'];

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand('raddle.ignore', ignore),
    vscode.commands.registerCommand('raddle.restart', restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      // All other settings the server asks for itself.
      if (event.affectsConfiguration('raddle.server.path')) {
        await restart();
      }
    }),
  );
  register(context);
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<void> {
  const command = vscode.workspace.getConfiguration('raddle').get<string>('server.path', 'raddle');
  const server: ServerOptions = { command, args: ['lsp'] };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.flatMap((language) => [
      { scheme: 'file', language },
      { scheme: 'untitled', language },
    ]),
    initializationOptions: { asksForReasons: true },
  };
  client = new LanguageClient('raddle', 'raddle', server, options);
  try {
    await client.start();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(
      `raddle: \`${command} lsp\` does not start: ${why}. The setting raddle.server.path says where raddle is.`,
    );
  }
}

async function restart(): Promise<void> {
  try {
    await client?.stop();
  } catch {
    // It did not start, or is gone already: that is what was wanted.
  }
  await start();
}

/// Asks for a reason and writes the mark with it.
async function ignore(mark: Mark): Promise<void> {
  const reason = await vscode.window.showInputBox({
    title: 'Ignore this finding',
    prompt: 'Why is it no bug? The reason stands in the source, for the next reader.',
    validateInput: (text) => (marked(mark, text) === undefined ? 'A reason is needed.' : undefined),
  });
  const text = reason === undefined ? undefined : marked(mark, reason);
  if (text === undefined) {
    return;
  }
  const edit = new vscode.WorkspaceEdit();
  const at = new vscode.Position(mark.position.line, mark.position.character);
  edit.insert(vscode.Uri.parse(mark.uri), at, text);
  await vscode.workspace.applyEdit(edit);
}
