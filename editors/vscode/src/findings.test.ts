import * as assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from './findings';

const at = (uri: string, startLine: number) => ({
  physicalLocation: { artifactLocation: { uri }, region: { startLine, startColumn: 5 } },
});
const sarif = (...results: object[]) => JSON.stringify({ version: '2.1.0', runs: [{ results }] });

test('a finding has a title, its places and its schedule', () => {
  const [race] = findings(
    sarif({
      message: { text: 'data race on `n`\n\nBoth write.' },
      locations: [at('src/a%20b.c', 7)],
      relatedLocations: [{ ...at('file:///usr/b.c', 9), message: { text: 'earlier: T1 wrote' } }],
      properties: { confidence: 'confirmed', schedule: 'p-data-race-1.raddle' },
    }),
    '/project',
  );
  assert.deepEqual(race, {
    confidence: 'confirmed',
    title: 'data race on `n`',
    explanation: 'data race on `n`\n\nBoth write.',
    place: { file: '/project/src/a b.c', line: 7, column: 5, text: 'data race on `n`' },
    places: [{ file: '/usr/b.c', line: 9, column: 5, text: 'earlier: T1 wrote' }],
    schedule: '/project/p-data-race-1.raddle',
  });
});

test('a finding without a place is shown, and one that was set aside is not', () => {
  const shown = findings(
    sarif(
      { message: { text: 'the program ends with status 1' }, locations: [] },
      { message: { text: 'old' }, suppressions: [{ kind: 'external' }] },
    ),
    '/project',
  );
  assert.deepEqual(shown.map((finding) => [finding.title, finding.place]), [
    ['the program ends with status 1', undefined],
  ]);
});
