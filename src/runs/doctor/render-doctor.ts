import type { EngineReport } from './examine-engines.js';

const STATUS_WORDS: Readonly<Record<EngineReport['status'], string>> = {
  ready: 'ready',
  missing: 'missing',
  unproven_version: 'unproven version',
  broken: 'broken',
};

/**
 * The reports as lines for people: engine, status, version and place, and below it the next step.
 *
 * @example
 * process.stderr.write(renderDoctor(await examineEngines({ env: process.env, cwd: process.cwd() })))
 */
export function renderDoctor(reports: readonly EngineReport[]): string {
  const engineWidth = widest(reports.map(({ engine }) => engine));
  const statusWidth = widest(Object.values(STATUS_WORDS));
  const versionWidth = widest(reports.map(({ version = '' }) => version));
  return reports
    .map(({ engine, status, version = '', path = '', next }) => {
      const columns = [
        engine.padEnd(engineWidth),
        STATUS_WORDS[status].padEnd(statusWidth),
        version.padEnd(versionWidth),
        path,
      ];
      const line = columns.join('  ').trimEnd();
      return next === undefined ? `${line}\n` : `${line}\n${' '.repeat(engineWidth)}  → ${next}\n`;
    })
    .join('');
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}
