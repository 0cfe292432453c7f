// Which test the cursor is in. Knows nothing of VS Code, so that it can be tested without.

export interface Test {
  framework: 'rust' | 'googletest';
  /// As the framework filters by it: `counts`, `Queue.KeepsOrder`.
  name: string;
}

/// The test that begins at `line` or above it, counted from 0; none if another function begins in between.
export function testAt(lines: string[], line: number, language: string): Test | undefined {
  for (let at = Math.min(line, lines.length - 1); at >= 0; at--) {
    if (language === 'rust') {
      const name = /^\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)/.exec(lines[at])?.[1];
      if (name !== undefined) {
        return isRustTest(lines, at) ? { framework: 'rust', name } : undefined;
      }
    } else {
      const [, suite, name] = /^TEST(?:_F)?\(\s*(\w+)\s*,\s*(\w+)\s*\)/.exec(lines[at]) ?? [];
      if (name !== undefined) {
        return { framework: 'googletest', name: `${suite}.${name}` };
      }
      // The end of a function above the cursor.
      if (at < line && lines[at].startsWith('}')) {
        return undefined;
      }
    }
  }
  return undefined;
}

/// Whether one of the attributes above a function makes it a test: `#[test]`, `#[tokio::test(…)]`.
function isRustTest(lines: string[], at: number): boolean {
  for (at -= 1; at >= 0 && /^\s*(#\[|\/\/)/.test(lines[at]); at--) {
    if (/^\s*#\[(\w+::)*test\b/.test(lines[at])) {
      return true;
    }
  }
  return false;
}
