import { execFileSync } from 'node:child_process';
import { Argument, Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';
import { renderBash, readProgramShape, renderFish, renderPowerShell, renderZsh } from '../commands/completion.js';

const program = new Command('tool');
program
  .command('fetch')
  .description("get a thing: it's [quick]")
  .argument('[file]', 'what to get')
  .option('-q, --quiet', 'say nothing')
  .option('--to <dir>', 'where to')
  .option('--label <text>', 'its name')
  .addOption(new Option('--how <way>', 'which way').choices(['fast', 'slow']))
  .addOption(new Option('--secret', 'not for everyone').hideHelp());
program
  .command('pick')
  .description('choose')
  .addArgument(new Argument('<one>', 'which').choices(['this', 'that']));
const box = program.command('box').description('boxes').option('--engine <name>', 'which one');
box.command('open').option('--wide', 'how');
box.command('close');
const shape = readProgramShape(program, { engine: ['codex', 'claude'] });

describe('the description of a CLI', () => {
  it('lists its commands with their options and values', () => {
    const [fetch, pick] = shape.commands;
    expect(fetch?.options.map(({ names, value }) => [names, value && (value.areFiles || value.words)])).toEqual([
      [['-q', '--quiet'], undefined],
      [['--to'], true],
      [['--label'], []],
      [['--how'], ['fast', 'slow']],
      [['-h', '--help'], undefined],
    ]);
    expect(fetch?.arguments).toEqual({ words: [], areFiles: true });
    expect(pick?.arguments).toEqual({ words: ['this', 'that'], areFiles: false });
  });

  it('lists subcommands with their options, and suggested values', () => {
    const { arguments: words, options } = shape.commands[2] ?? {};
    expect(words).toEqual({ words: ['open', 'close'], areFiles: false });
    expect(options?.flatMap(({ names }) => names)).toEqual(['--engine', '-h', '--help', '--wide']);
    expect(options?.[0]?.value?.words).toEqual(['codex', 'claude']);
    // Words that are also choices are offered once.
    const { options: fetchOptions } = readProgramShape(program, { how: ['fast', 'best'] }).commands[0] ?? {};
    const how = fetchOptions?.find(({ names }) => names.includes('--how'));
    expect(how?.value?.words).toEqual(['fast', 'slow', 'best']);
  });
});

/** Returns bash's suggestions for the last of these words. */
function completeInBash(...words: readonly string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _tool; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', `${renderBash(shape)}\n${ask}`], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

describe('bash completion', () => {
  it.each([
    ['commands and global options', ['tool', ''], ['fetch', 'pick', 'box', '-h', '--help']],
    ['the subcommands of a command', ['tool', 'box', ''], ['open', 'close']],
    ['suggested values', ['tool', 'box', '--engine', 'cl'], ['claude']],
    ['commands that start with the typed prefix', ['tool', 'fe'], ['fetch']],
    ['the options of the command', ['tool', 'fetch', '--'], ['--quiet', '--to', '--label', '--how', '--help']],
    ['the choices of an option', ['tool', 'fetch', '--how', ''], ['fast', 'slow']],
    ['the choices of an argument', ['tool', 'pick', 'th'], ['this', 'that']],
    ['nothing for an option that takes a file, so bash completes file names', ['tool', 'fetch', '--to', ''], ['']],
    ['nothing for an option that takes any string', ['tool', 'fetch', '--label', ''], ['']],
  ])('offers %s', (_, words, offered) => {
    expect(completeInBash(...words)).toEqual(offered);
  });
});

describe('zsh completion', () => {
  it('has every command and option, with quoted descriptions', () => {
    const script = renderZsh(shape);
    expect(script).toMatch(/^#compdef tool\n/);
    expect(script).toContain(String.raw`'fetch:get a thing\: it'\''s [quick]'`);
    expect(script).toContain("'--how[which way]:way:(fast slow)'");
    expect(script).toContain("'--to[where to]:dir:_files'");
    expect(script).toContain("'*:word:(this that)'");
  });
});

describe('fish completion', () => {
  it('has every command and option, with quoted descriptions', () => {
    const lines = renderFish(shape).split('\n');
    expect(lines).toContain(
      String.raw`complete -c tool -n __fish_use_subcommand -a fetch -d 'get a thing: it\'s [quick]'`,
    );
    expect(lines).toContain(
      "complete -c tool -n '__fish_seen_subcommand_from fetch' -l how -x -a 'fast slow' -d 'which way'",
    );
    expect(lines).toContain("complete -c tool -n '__fish_seen_subcommand_from fetch' -l to -r -F -d 'where to'");
    expect(lines).toContain("complete -c tool -n '__fish_seen_subcommand_from fetch' -F");
  });
});

describe('PowerShell completion', () => {
  it('has every command, option and value, with quoted words', () => {
    const script = renderPowerShell(shape);
    expect(script).toContain('Register-ArgumentCompleter -Native -CommandName tool -ScriptBlock {');
    expect(script).toContain("$commands = @('fetch', 'pick', 'box')");
    expect(script).toContain("'box' = @('open', 'close')");
    expect(script).toContain("'box --engine' = @('codex', 'claude')");
    expect(script).toContain("'fetch --how' = @('fast', 'slow')");
  });
});

describe('sluice completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s with every command', async (shell) => {
    const io = createMemoryIo({});
    expect(await run(['completion', shell], io)).toBe(0);
    for (const command of ['parse', 'run', 'serve', 'completion']) expect(io.printed.stdout).toContain(command);
    expect(io.printed.stdout).not.toContain('undefined');
  });

  it('exits with 2 for another shell', async () => {
    const io = createMemoryIo({});
    expect(await run(['completion', 'csh'], io)).toBe(2);
    expect(io.printed.stderr).toContain('Allowed choices are bash, zsh, fish');
  });
});
