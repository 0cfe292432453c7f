// Findings as the tree shows them, from a report in SARIF. Knows nothing of VS Code, so that it can be tested without.

import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Place {
  file: string;
  /// From 1.
  line: number;
  column: number;
  text: string;
}

export interface Finding {
  /// `confirmed` or `suspected`.
  confidence: string;
  /// One line.
  title: string;
  /// All that raddle says about it.
  explanation: string;
  /// Where to jump; a failing exit status has no place.
  place?: Place;
  places: Place[];
  /// The `.raddle` file, if the failure can be replayed.
  schedule?: string;
}

interface Location {
  physicalLocation?: {
    artifactLocation: { uri: string };
    region?: { startLine?: number; startColumn?: number };
  };
  message?: { text: string };
}

interface Sarif {
  runs: {
    results?: {
      message: { text: string };
      locations?: Location[];
      relatedLocations?: Location[];
      suppressions?: unknown[];
      properties?: { confidence?: string; schedule?: string };
    }[];
  }[];
}

/// The findings of a report that was written in `folder`, without those that a baseline or a decision has set aside.
export function findings(sarif: string, folder: string): Finding[] {
  const report = JSON.parse(sarif) as Sarif;
  const results = report.runs.flatMap((run) => run.results ?? []);
  return results
    .filter((result) => (result.suppressions ?? []).length === 0)
    .map((result) => {
      const title = result.message.text.split('\n', 1)[0];
      const schedule = result.properties?.schedule;
      return {
        confidence: result.properties?.confidence ?? 'confirmed',
        title,
        explanation: result.message.text,
        place: (result.locations ?? []).flatMap((at) => place(at, folder, title))[0],
        places: (result.relatedLocations ?? []).flatMap((at) => place(at, folder, '')),
        schedule: schedule === undefined ? undefined : path.resolve(folder, schedule),
      };
    });
}

function place(location: Location, folder: string, text: string): Place[] {
  const at = location.physicalLocation;
  if (at === undefined) {
    return [];
  }
  const uri = at.artifactLocation.uri;
  const file = uri.startsWith('file:') ? fileURLToPath(uri) : path.resolve(folder, decodeURIComponent(uri));
  const { startLine = 1, startColumn = 1 } = at.region ?? {};
  return [{ file, line: startLine, column: startColumn, text: location.message?.text ?? text }];
}
