import type { Command } from 'commander';
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

/** The candidates to offer: words, names of files, or (neither) nothing. */
interface Completion {
  readonly words: readonly string[];
  readonly areFiles: boolean;
}

export type ProgramShape = ReturnType<typeof readProgramShape>;
type CommandShape = ProgramShape['commands'][number];
type OptionShape = CommandShape['options'][number];

const PATH_NAMES = /^(?:file|files|dir|target)$/;

/** Words to suggest for options that also accept others, by the option's long name without dashes. */
type Suggestions = Readonly<Record<string, readonly string[]>>;

/** Reads names, descriptions and choices from the program, so the scripts are always up to date. */
export function readProgramShape(program: Command, suggestions: Suggestions = {}) {
  return {
    name: program.name(),
    options: readOptions(program, suggestions),
    commands: program.commands.map((command) => ({
      name: command.name(),
      description: command.description(),
      options: readOptions(command, suggestions),
      arguments: readArguments(command),
    })),
  };
}

/** Reads what can follow a command: its subcommands, or its first argument. Undefined if it takes no arguments. */
function readArguments({ commands, registeredArguments: [first] }: Command): Completion | undefined {
  if (commands.length > 0) return { words: commands.map((one) => one.name()), areFiles: false };
  return first === undefined ? undefined : complete(first.name(), first.argChoices);
}

function readOptions(command: Command, suggestions: Suggestions) {
  // A program's own commands are completed separately.
  const owners = command.parent === null ? [command] : [command, ...command.commands];
  const options = owners.flatMap((owner) => owner.createHelp().visibleOptions(owner));
  const byName = new Map(options.map((option) => [option.long ?? option.flags, option]));
  return [...byName.values()].map((option) => {
    const value = /[<[]([^.>\]]+)/.exec(option.flags)?.[1];
    const choices = new Set([...(option.argChoices ?? []), ...(suggestions[option.name()] ?? [])]);
    return {
      names: [option.short, option.long].filter((name) => name !== undefined),
      description: option.description,
      /** Undefined if the option takes no value. */
      value: value === undefined ? undefined : { name: value, ...complete(value, [...choices]) },
    };
  });
}

function complete(name: string, words: readonly string[] = []): Completion {
  return { words, areFiles: words.length === 0 && PATH_NAMES.test(name) };
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
    const words = value.words.join(' ');
    return [`    ${patterns}) ${words === '' ? '' : `COMPREPLY=($(compgen -W '${words}' -- "$word")); `}return ;;`];
  });
}

function renderWordCase({ name, options, arguments: { words } = NOTHING }: CommandShape): string {
  const flags = options.flatMap(({ names }) => names).join(' ');
  return `    ${name}) if [[ "$word" == -* ]]; then words='${flags}'; else words='${words.join(' ')}'; fi ;;`;
}

const NOTHING: Completion = { words: [], areFiles: false };

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

function renderZshCommand({ name, options, arguments: words }: CommandShape): string {
  const specs = options.map(renderZshOption);
  if (words !== undefined) specs.push(quoteZsh(`*:word:${formatZshAction(words)}`));
  return `        ${name}) _arguments ${specs.join(' ')} ;;`;
}

function renderZshOption({ names, description, value }: OptionShape): string {
  const text = `[${escapeColons(description).replaceAll(/[[\]]/g, String.raw`\$&`)}]`;
  const argument = value === undefined ? '' : `:${escapeColons(value.name)}:${formatZshAction(value)}`;
  return names.map((name) => quoteZsh(`${name}${text}${argument}`)).join(' ');
}

function formatZshAction({ words, areFiles }: Completion): string {
  if (words.length > 0) return `(${words.join(' ')})`;
  return areFiles ? '_files' : ' ';
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

function renderFishCommand({ name, options, arguments: words = NOTHING }: CommandShape, prefix: string): string[] {
  const condition = `-n ${quoteFish(`__fish_seen_subcommand_from ${name}`)}`;
  const specs = [...options.map(renderFishOption), ...formatFishWords(words)];
  return specs.map((spec) => `${prefix} ${condition} ${spec}`);
}

function renderFishOption({ names, description, value }: OptionShape): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const valueWords = value === undefined ? [] : [value.areFiles ? '-r' : '-x', ...formatFishWords(value)];
  return [...flags, ...valueWords, `-d ${quoteFish(description)}`].join(' ');
}

function formatFishWords({ words, areFiles }: Completion): string[] {
  if (areFiles) return ['-F'];
  return words.length === 0 ? [] : [`-a ${quoteFish(words.join(' '))}`];
}

function quoteFish(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

/** Renders the completion script for PowerShell 5.1 and later. Without a suggestion, it completes file names. */
export function renderPowerShell({ name, commands, options }: ProgramShape): string {
  const listFlags = (shapes: readonly OptionShape[]): string => formatList(shapes.flatMap(({ names }) => names));
  const values = commands.flatMap((command) =>
    command.options.flatMap(({ names, value }) => {
      const words = value && formatList(value.words);
      return words === undefined
        ? []
        : names.map((option) => `    ${quotePowerShell(`${command.name} ${option}`)} = ${words}`);
    }),
  );
  return `# ${name} completion for PowerShell
Register-ArgumentCompleter -Native -CommandName ${name} -ScriptBlock {
  param($word, $ast, $cursor)
  $commands = ${formatList(commands.map((command) => command.name))}
  $flags = @{
${commands.map((command) => `    ${quotePowerShell(command.name)} = ${listFlags(command.options)}`).join('\n')}
  }
  $words = @{
${commands.map((command) => `    ${quotePowerShell(command.name)} = ${formatList(command.arguments?.words ?? [])}`).join('\n')}
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
