import * as assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mark, marked } from './mark';

const at = { uri: 'file:///a.c', position: { line: 0, character: 0 } };
const line: Mark = { ...at, before: ' // raddle: ignore ', after: '' };
const block: Mark = { ...at, before: ' /* raddle: ignore ', after: ' */' };

test('the reason stands between what the server sent', () => {
  assert.equal(marked(line, 'only a statistic'), ' // raddle: ignore only a statistic');
  assert.equal(marked(block, ' old '), ' /* raddle: ignore old */');
});

test('a reason stays in its comment', () => {
  assert.equal(marked(line, 'one\ntwo\r\nthree'), ' // raddle: ignore one two three');
  assert.equal(marked(block, 'x */ y'), ' /* raddle: ignore x  y */');
});

test('without a reason there is no mark', () => {
  assert.equal(marked(line, ' \n '), undefined);
  assert.equal(marked(block, '*/'), undefined);
});
