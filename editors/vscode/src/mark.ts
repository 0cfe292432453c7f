// The mark that ignores a finding. Knows nothing of VS Code, so that it can be tested without.

/// Where the server wants it, and what stands around the reason.
export interface Mark {
  uri: string;
  position: { line: number; character: number };
  before: string;
  after: string;
}

/// The text to insert; undefined if there is no reason in it.
export function marked(mark: Mark, reason: string): string | undefined {
  // One line, and nothing that would end the comment early.
  const clean = reason.replace(/\s+/g, ' ').replace(/\*\//g, '').trim();
  return clean === '' ? undefined : mark.before + clean + mark.after;
}
