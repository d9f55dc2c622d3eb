import { Argument, Option, type Command } from 'commander';
import type { CommandIo } from './command-io.js';
import { EXIT, type ExitCode } from './failure.js';

/** Adds a command to a program. `end` receives the exit code. */
export type AddCommand = (parent: Command, io: CommandIo, end: (code: ExitCode) => void) => void;

type Parser = (value: string) => unknown;

/** The rules for a value, besides its name. */
interface Rules {
  readonly choices?: readonly string[];
  readonly parse?: Parser;
  readonly required?: true;
  readonly default?: unknown;
  readonly conflicts?: readonly string[];
  readonly isHidden?: true;
}

/** The help of an option or argument, and the allowed words, the parser or other rules of its value. */
type Help = string | readonly [help: string, rules: readonly string[] | Parser | Rules];

/** Options or arguments in the order of the help, by their names: `--port <n>`, `<file>`, `[words...]`. */
export type Parameters = Readonly<Record<string, Help>>;

interface Definition<Arguments extends Parameters, Options extends Parameters> {
  readonly summary: string;
  readonly args?: Arguments;
  readonly options?: Options;
  /** Lines below the options in the help. */
  readonly notes?: string;
  readonly subcommands?: readonly AddCommand[];
  /** Without an exit code, the command succeeded. Options that a parent command shares are included. */
  readonly run?: (
    input: ArgumentsOf<Arguments> & FlagsOf<Options>,
    io: CommandIo,
    program: Command,
  ) => Promise<ExitCode | undefined> | Promise<void>;
}

export function defineCommand<
  const Arguments extends Parameters = Record<never, never>,
  const Options extends Parameters = Record<never, never>,
>(name: string, definition: Definition<Arguments, Options>): AddCommand {
  const { summary, args = {}, options = {}, notes, subcommands = [], run } = definition;
  return (parent, io, end) => {
    const command = parent.command(name).description(summary);
    for (const [names, help] of Object.entries<Help>(args)) command.addArgument(createArgument(names, help));
    for (const [names, help] of Object.entries<Help>(options)) command.addOption(createOption(names, help));
    if (notes !== undefined) command.addHelpText('after', `\n${notes}`);
    for (const add of subcommands) add(command, io, end);
    if (run === undefined) return;
    command.action(async () => {
      const values: readonly unknown[] = command.processedArgs;
      const given = command.registeredArguments.map((argument, index) => [argument.name(), values[index]] as const);
      // Commander has checked the values by the same definition.
      const input = { ...command.optsWithGlobals<object>(), ...Object.fromEntries(given) } as never;
      end((await run(input, io, parent)) ?? EXIT.success);
    });
  };
}

function createArgument(names: string, help: Help): Argument {
  const [text, { choices, default: value }] = readHelp(help);
  const argument = new Argument(names, text);
  if (choices !== undefined) argument.choices(choices);
  return value === undefined ? argument : argument.default(value);
}

function createOption(names: string, help: Help): Option {
  const [text, rules] = readHelp(help);
  const option = new Option(names, text);
  if (rules.choices !== undefined) option.choices(rules.choices);
  if (rules.parse !== undefined) option.argParser(rules.parse);
  if (rules.default !== undefined) option.default(rules.default);
  return option
    .makeOptionMandatory(rules.required === true)
    .conflicts([...(rules.conflicts ?? [])])
    .hideHelp(rules.isHidden === true);
}

function readHelp(help: Help): readonly [text: string, rules: Rules] {
  const [text, rules = {}] = typeof help === 'string' ? [help] : help;
  if (typeof rules === 'function') return [text, { parse: rules }];
  return [text, isWords(rules) ? { choices: rules } : rules];
}

function isWords(rules: readonly string[] | Rules): rules is readonly string[] {
  return Array.isArray(rules);
}

/** The values of parsed options, as commander names them: `--no-wait` is `wait: false`. */
export type FlagsOf<Options extends Parameters> = {
  readonly [Names in keyof Options & string as FlagName<Names>]?: ValueOf<Names, Options[Names]>;
} & {
  readonly [Names in keyof Options & string as Options[Names] extends AlwaysGiven ? FlagName<Names> : never]: ValueOf<
    Names,
    Options[Names]
  >;
};

type AlwaysGiven = readonly [string, { readonly required: true } | { readonly default: unknown }];

type ArgumentsOf<Arguments extends Parameters> = {
  readonly [Names in keyof Arguments & string as ArgumentName<Names>]: ArgumentValue<Names, Arguments[Names]>;
};

type ArgumentName<Names extends string> = Names extends `${'<' | '['}${infer Name}${'>' | ']'}`
  ? Name extends `${infer First}...`
    ? First
    : Name
  : never;

type ArgumentValue<Names extends string, Value> = Names extends `${string}...${string}`
  ? readonly string[]
  : Names extends `<${string}`
    ? ValueOf<Names, Value>
    : Value extends AlwaysGiven
      ? string
      : string | undefined;

type FlagName<Names extends string> = CamelCase<
  Names extends `--no-${infer Name}`
    ? Name
    : Names extends `--${infer Name} <${string}`
      ? Name
      : Names extends `--${infer Name}`
        ? Name
        : never
>;

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type ValueOf<Names extends string, Value> = Names extends `${string}...>`
  ? readonly string[]
  : Names extends `${string}>`
    ? Value extends readonly [
        string,
        ((value: string) => infer Parsed) | { readonly parse: (value: string) => infer Parsed },
      ]
      ? Parsed
      : Value extends readonly [string, readonly (infer Word)[] | { readonly choices: readonly (infer Word)[] }]
        ? Word
        : string
    : boolean;
