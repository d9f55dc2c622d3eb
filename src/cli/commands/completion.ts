import type { Argument, Command, Option } from 'commander';
import { defineCommand } from '../command.js';

const SHELLS = { bash: renderBash, zsh: renderZsh, fish: renderFish, powershell: renderPowerShell } satisfies Record<
  string,
  (program: ProgramShape) => string
>;

export const addCompletionCommand = defineCommand('completion', {
  summary: 'print a completion script for a shell',
  args: { '<shell>': ['shell to create the script for', ['bash', 'zsh', 'fish', 'powershell']] },
  async run({ shell }, io, program) {
    const { listLaunchers } = await import('../../runs/index.js');
    await io.stdout.write(SHELLS[shell](readProgramShape(program, { engine: Object.keys(listLaunchers()) })));
  },
});

export type Completion =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'anything' };

export interface OptionShape {
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined if the option takes no value. */
  readonly value?: { readonly name: string; readonly completion: Completion };
}

export interface CommandShape {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionShape[];
  /** Completes all its arguments like the first; undefined if it takes no arguments. */
  readonly words?: Completion;
}

export interface ProgramShape {
  readonly name: string;
  readonly commands: readonly CommandShape[];
  readonly options: readonly OptionShape[];
}

const PATH_NAMES = /^(?:file|files|dir|target)$/;

/** Words to suggest for options that also accept others, by the option's long name without dashes. */
type Suggestions = Readonly<Record<string, readonly string[]>>;

/** Reads names, descriptions and choices from the program, so the scripts are always up to date. */
export function readProgramShape(program: Command, suggestions: Suggestions = {}): ProgramShape {
  return {
    name: program.name(),
    options: readOptions(program, suggestions),
    commands: program.commands.map((command) => {
      const words = readWords(command);
      return {
        name: command.name(),
        description: command.description(),
        options: readOptions(command, suggestions),
        ...(words === undefined ? {} : { words }),
      };
    }),
  };
}

/** Reads what can follow a command: its subcommands, or its first argument. */
function readWords(command: Command): Completion | undefined {
  if (command.commands.length > 0) return { kind: 'words', words: command.commands.map((one) => one.name()) };
  const [first] = command.registeredArguments;
  return first === undefined ? undefined : chooseCompletion(first.name(), readChoices(first));
}

function readOptions(command: Command, suggestions: Suggestions): OptionShape[] {
  // A program's own commands are completed separately.
  const owners = command.parent === null ? [command] : [command, ...command.commands];
  const options = owners.flatMap((owner) => owner.createHelp().visibleOptions(owner));
  const byName = new Map(options.map((option) => [option.long ?? option.flags, option]));
  return [...byName.values()].map((option) => toShape(option, suggestions));
}

function toShape(option: Option, suggestions: Suggestions): OptionShape {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const value = /[<[]([^.>\]]+)/.exec(option.flags)?.[1];
  const choices = [...new Set([...readChoices(option), ...(suggestions[option.name()] ?? [])])];
  return {
    names,
    description: option.description,
    ...(value === undefined ? {} : { value: { name: value, completion: chooseCompletion(value, choices) } }),
  };
}

function readChoices(source: Option | Argument): readonly string[] {
  return source.argChoices ?? [];
}

function chooseCompletion(name: string, choices: readonly string[]): Completion {
  if (choices.length > 0) return { kind: 'words', words: choices };
  return { kind: PATH_NAMES.test(name) ? 'files' : 'anything' };
}

/**
 * Renders the completion script for bash 3.2 and later, without dependencies. Without a suggestion, the shell completes
 * file names, which suits most values.
 */
export function renderBash({ name, commands, options }: ProgramShape): string {
  const names = commands.map((command) => command.name);
  const firstWords = [...names, ...options.flatMap((option) => option.names)];
  return `# ${name} completion for bash
_${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${names.join('|')}) command="\${COMP_WORDS[i]}"; break ;;
    esac
  done
  COMPREPLY=()
  case "$command $before" in
${commands.flatMap(renderValueCases).join('\n')}
  esac
  case "$command" in
    '') words='${firstWords.join(' ')}' ;;
${commands.map(renderWordCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _${name} ${name}
`;
}

/** Suggests an option's choices; other values are left to the shell. */
function renderValueCases({ name, options }: CommandShape): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    const patterns = names.map((option) => `'${name} ${option}'`).join('|');
    const { completion } = value;
    const reply =
      completion.kind === 'words' ? `COMPREPLY=($(compgen -W '${completion.words.join(' ')}' -- "$word")); ` : '';
    return [`    ${patterns}) ${reply}return ;;`];
  });
}

function renderWordCase({ name, options, words }: CommandShape): string {
  const flags = options.flatMap(({ names }) => names).join(' ');
  const values = words?.kind === 'words' ? words.words.join(' ') : '';
  return `    ${name}) if [[ "$word" == -* ]]; then words='${flags}'; else words='${values}'; fi ;;`;
}

/** Renders the completion script for zsh, with descriptions. It works from a folder in `fpath` and when sourced. */
export function renderZsh({ name, commands, options }: ProgramShape): string {
  return `#compdef ${name}
# ${name} completion for zsh
_${name}() {
  local -a commands
  local state
  commands=(
${commands.map(({ name: command, description }) => `    ${quoteZsh(`${command}:${escapeColons(description)}`)}`).join('\n')}
  )
  _arguments -C ${options.map(renderZshOption).join(' ')} '1: :->command' '*:: :->words'
  case $state in
    command) _describe command commands ;;
    words)
      case $words[1] in
${commands.map(renderZshCommand).join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function renderZshCommand({ name, options, words }: CommandShape): string {
  const specs = [
    ...options.map(renderZshOption),
    ...(words === undefined ? [] : [quoteZsh(`*:word:${formatZshAction(words)}`)]),
  ];
  return `        ${name}) _arguments ${specs.join(' ')} ;;`;
}

function renderZshOption({ names, description, value }: OptionShape): string {
  const text = `[${escapeColons(description).replaceAll(/[[\]]/g, String.raw`\$&`)}]`;
  const argument = value === undefined ? '' : `:${escapeColons(value.name)}:${formatZshAction(value.completion)}`;
  return names.map((name) => quoteZsh(`${name}${text}${argument}`)).join(' ');
}

function formatZshAction(completion: Completion): string {
  switch (completion.kind) {
    case 'words':
      return `(${completion.words.join(' ')})`;
    case 'files':
      return '_files';
    case 'anything':
      return ' ';
  }
}

function escapeColons(text: string): string {
  return text.replaceAll(/[\\:]/g, String.raw`\$&`);
}

function quoteZsh(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function renderFish({ name, commands, options }: ProgramShape): string {
  const prefix = `complete -c ${name}`;
  const atStart = '-n __fish_use_subcommand';
  const lines = [
    `# ${name} completion for fish`,
    // File names are suggested only if a command takes files.
    `${prefix} -f`,
    ...options.map((option) => `${prefix} ${atStart} ${renderFishOption(option)}`),
    ...commands.map((command) => `${prefix} ${atStart} -a ${command.name} -d ${quoteFish(command.description)}`),
    ...commands.flatMap((command) => renderFishCommand(command, prefix)),
  ];
  return `${lines.join('\n')}\n`;
}

function renderFishCommand({ name, options, words }: CommandShape, prefix: string): string[] {
  const condition = `-n ${quoteFish(`__fish_seen_subcommand_from ${name}`)}`;
  return [
    ...options.map((option) => `${prefix} ${condition} ${renderFishOption(option)}`),
    ...(words === undefined || words.kind === 'anything' ? [] : [`${prefix} ${condition} ${formatFishWords(words)}`]),
  ];
}

function renderFishOption({ names, description, value }: OptionShape): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const valueWords =
    value === undefined ? [] : [value.completion.kind === 'files' ? '-r' : '-x', formatFishWords(value.completion)];
  return [...flags, ...valueWords, `-d ${quoteFish(description)}`].filter((word) => word !== '').join(' ');
}

function formatFishWords(completion: Completion): string {
  switch (completion.kind) {
    case 'words':
      return `-a ${quoteFish(completion.words.join(' '))}`;
    case 'files':
      return '-F';
    case 'anything':
      return '';
  }
}

function quoteFish(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

/** Renders the completion script for PowerShell 5.1 and later. Without a suggestion, it completes file names. */
export function renderPowerShell({ name, commands, options }: ProgramShape): string {
  const listFlags = (shapes: readonly OptionShape[]): string => formatList(shapes.flatMap(({ names }) => names));
  const listWords = (completion: Completion | undefined): string =>
    formatList(completion?.kind === 'words' ? completion.words : []);
  const values = commands.flatMap((command) =>
    command.options.flatMap(({ names, value }) =>
      value === undefined
        ? []
        : names.map((option) => `    ${quotePowerShell(`${command.name} ${option}`)} = ${listWords(value.completion)}`),
    ),
  );
  return `# ${name} completion for PowerShell
Register-ArgumentCompleter -Native -CommandName ${name} -ScriptBlock {
  param($word, $ast, $cursor)
  $commands = ${formatList(commands.map((command) => command.name))}
  $flags = @{
${commands.map((command) => `    ${quotePowerShell(command.name)} = ${listFlags(command.options)}`).join('\n')}
  }
  $words = @{
${commands.map((command) => `    ${quotePowerShell(command.name)} = ${listWords(command.words)}`).join('\n')}
  }
  $values = @{
${values.join('\n')}
  }
  $typed = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $command = $typed | Where-Object { $commands -contains $_ } | Select-Object -First 1
  $option = if ($typed.Count -gt 0) { "$command $($typed[-1])" } else { '' }
  $offered =
    if (-not $command) { $commands + ${listFlags(options)} }
    elseif ($values.ContainsKey($option)) { $values[$option] }
    elseif ($word -like '-*') { $flags[$command] }
    else { $words[$command] }
  $offered | Where-Object { $_ -like "$word*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`;
}

function formatList(words: readonly string[]): string {
  return `@(${words.map(quotePowerShell).join(', ')})`;
}

function quotePowerShell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
