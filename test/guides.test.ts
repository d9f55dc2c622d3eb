import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { prepareStage } from './command-stage.js';
import { compilePrograms, type CompiledPrograms } from './compile-programs.js';
import { matchesOutput, readGuide, type GuideStep } from './guides/read-guide.js';

const GUIDES = join(PROJECT, 'docs/guides');
const guides = readdirSync(GUIDES)
  .filter((name) => name !== 'README.md')
  .map((name) => ({ name, steps: readGuide(readFileSync(join(GUIDES, name), 'utf8')) }));
const SLOW = 300_000;

const getName = (guide: string, { line }: GuideStep) => `${guide.replace(/\.md$/, '')}-${line}`;
let programs: CompiledPrograms;

beforeAll(async () => {
  const texts = guides.flatMap(({ name, steps }) =>
    steps.flatMap((step) =>
      step.kind === 'program' ? [[`${getName(name, step)}.${step.isJsx ? 'tsx' : 'ts'}`, step.text] as const] : [],
    ),
  );
  programs = await compilePrograms(new Map(texts));
}, SLOW);
afterAll(() => programs.remove());

describe('the guides', () => {
  it('have programs that compile', () => {
    expect(programs.compiled).toMatchObject({ exitCode: 0, stdout: '' });
  });

  it.each(guides)('$name: every block does what the guide describes', { timeout: SLOW }, async ({ name, steps }) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-guide-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const stage = prepareStage(folder);
    for (const step of steps) {
      const location = `${name}:${step.line}`;
      if (step.kind === 'file') {
        stage.write(step.name, step.text, step.text.startsWith('#!') ? 0o755 : 0o644);
        continue;
      }
      const line = step.kind === 'program' ? `node "${programs.getFile(getName(name, step))}"` : step.text;
      const { exitCode, stdout, stderr } = stage.type(line);
      expect({ location, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
        location,
        exitCode: 0,
        stderr: '',
      });
      const { prints = stdout } = step;
      expect(matchesOutput(stdout, prints), `${location} printed\n${stdout}\ninstead of\n${prints}`).toBe(true);
    }
  });
});

describe('a guide', () => {
  it('is read as steps: files, programs and commands with their output', () => {
    const page =
      '# T\n\n```json a.json\n{}\n```\n\n```ts\nlet a;\n```\n\n```text\n1\n```\n\n```sh\nls\n```\n\n```console\nssh x\n```\n';
    expect(readGuide(page)).toEqual([
      { kind: 'file', line: 3, name: 'a.json', text: '{}\n' },
      { kind: 'program', line: 7, text: 'let a;\n', prints: '1\n', isJsx: false },
      { kind: 'commands', line: 15, text: 'ls\n', prints: undefined },
    ]);
  });

  it.each(['```\nx\n```', '```python\nx\n```', '```text\nx\n```'])('must not contain an untested block: %j', (page) => {
    expect(() => readGuide(`${page}\n`)).toThrow('cannot be tested');
  });

  it('does not match other output', () => {
    expect(matchesOutput('id 01ABC, done\n', 'id …, done')).toBe(true);
    expect(matchesOutput('id 01ABC, failed\n', 'id …, done')).toBe(false);
    expect(matchesOutput('ab', 'a.')).toBe(false);
  });
});
