import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../scripts/run-tool.js';

/** A step of the action. */
interface ActionStep {
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  readonly script: string;
}

/** Reads the parts of `action.yml` that its runner evaluates: the defaults of inputs, and steps that are scripts. */
export function readAction(): { readonly defaults: Readonly<Record<string, string>>; readonly steps: ActionStep[] } {
  const text = readFileSync(join(PROJECT, 'action.yml'), 'utf8');
  const [head = '', runs = ''] = text.split(/^runs:$/m);
  const inputs = /^inputs:\n([^]*?)^outputs:/m.exec(head)?.[1] ?? '';
  const defaults = Object.fromEntries(
    inputs.split(/^ {2}(?=[\w-]+:$)/m).flatMap((input) => {
      const name = /^([\w-]+):/.exec(input)?.[1];
      return name === undefined ? [] : [[name, unquote(/^ {4}default: (.*)$/m.exec(input)?.[1] ?? '')]];
    }),
  );
  const steps = runs
    .split(/^ {4}- id: /m)
    .slice(1)
    .map((step) => ({
      id: /^\S+/.exec(step)?.[0] ?? '',
      env: Object.fromEntries(
        [...step.matchAll(/^ {8}(\w+): (\$\{\{ .* \}\})$/gm)].map(([, name = '', value = '']) => [name, value]),
      ),
      script: readBlock(step),
    }));
  return { defaults, steps };
}

/** Reads a job's script from the GitLab template. */
export function readGitLabScript(job: string): string {
  const text = readFileSync(join(PROJECT, 'templates/sluice.gitlab-ci.yml'), 'utf8');
  const found = text.split(/^(?=\.[\w-]+:$)/m).find((part) => part.startsWith(`${job}:\n`)) ?? '';
  return readBlock(found.replace(/^ {4}- \|$/m, '    run: |'));
}

/** Replaces `${{ inputs.NAME }}` as the runner does. */
export function fillInInputs(value: string, inputs: Readonly<Record<string, string>>): string {
  return value.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => inputs[name] ?? '');
}

/** Reads the outputs that a step wrote, in the format of `GITHUB_OUTPUT`. */
export function readOutputs(text: string): Readonly<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (line === '') continue;
    const [, name = '', end = ''] = /^([\w-]+)<<(.+)$/.exec(line) ?? [];
    const last = lines.indexOf(end);
    if (name === '' || last < 0) throw new Error(`not an output: ${line}`);
    outputs[name] = lines
      .splice(0, last + 1)
      .slice(0, -1)
      .join('\n');
  }
  return outputs;
}

/** Reads the block after `run: |`, without its indentation. */
function readBlock(step: string): string {
  const [, indent = '', body = ''] = /^( *)run: \|\n([^]*)/m.exec(step) ?? [];
  const lines = body.split('\n');
  const end = lines.findIndex((line) => line.trim() !== '' && !line.startsWith(`${indent}  `));
  return lines
    .slice(0, end < 0 ? undefined : end)
    .map((line) => line.slice(indent.length + 2))
    .join('\n');
}

function unquote(text: string): string {
  return text.replace(/^'(.*)'$/, '$1');
}
