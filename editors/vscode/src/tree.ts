// The tree of findings: one node for each finding, and below it one for each of its places.

import * as vscode from 'vscode';
import { Finding, Place } from './findings';

export class FindingNode {
  constructor(readonly finding: Finding) {}
}

export class PlaceNode {
  constructor(readonly place: Place) {}
}

type Node = FindingNode | PlaceNode;

export class FindingTree implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private nodes: FindingNode[] = [];

  show(findings: Finding[]): void {
    this.nodes = findings.map((finding) => new FindingNode(finding));
    this.changed.fire();
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.nodes;
    }
    return node instanceof FindingNode ? node.finding.places.map((place) => new PlaceNode(place)) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node instanceof PlaceNode) {
      return item(node.place.text, node.place, vscode.TreeItemCollapsibleState.None);
    }
    const { finding } = node;
    const state = vscode.TreeItemCollapsibleState;
    const shown = item(finding.title, finding.place, finding.places.length > 0 ? state.Collapsed : state.None);
    shown.tooltip = finding.explanation;
    shown.iconPath = new vscode.ThemeIcon(finding.confidence === 'confirmed' ? 'error' : 'warning');
    shown.contextValue = finding.schedule === undefined ? 'finding' : 'replayable';
    return shown;
  }
}

function item(label: string, place: Place | undefined, state: vscode.TreeItemCollapsibleState): vscode.TreeItem {
  const shown = new vscode.TreeItem(label, state);
  if (place !== undefined) {
    const uri = vscode.Uri.file(place.file);
    const at = new vscode.Position(place.line - 1, place.column - 1);
    shown.description = `${vscode.workspace.asRelativePath(uri)}:${place.line}`;
    shown.command = {
      command: 'vscode.open',
      title: 'Open',
      arguments: [uri, { selection: new vscode.Range(at, at) }],
    };
  }
  return shown;
}
