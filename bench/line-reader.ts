/**
 * Creates a minimal NDJSON reader, which decodes, splits and parses. It returns the number of values completed by a
 * chunk.
 */
export function createLineReader(): (chunk: Uint8Array) => number {
  const decoder = new TextDecoder();
  let rest = '';
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    let count = 0;
    for (const line of lines) {
      const value: unknown = JSON.parse(line);
      if (typeof value === 'object') count += 1;
    }
    return count;
  };
}
