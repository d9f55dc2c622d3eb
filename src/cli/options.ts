import { Option, type Command } from 'commander';

/** Options in the order of the help, by their names: the help, and the allowed words or the parser of the value. */
type Options = Readonly<Record<string, string | readonly [help: string, values: readonly string[] | Parser]>>;

type Parser = (value: string) => unknown;

export function addOptions(command: Command, options: Options): Command {
  for (const [names, help] of Object.entries(options)) {
    const [text, values] = typeof help === 'string' ? [help] : help;
    const option = new Option(names, text);
    if (typeof values === 'function') option.argParser(values);
    else if (values !== undefined) option.choices(values);
    command.addOption(option);
  }
  return command;
}

/** The values of parsed options, as commander names them: `--no-wait` is `wait: false`. */
export type FlagsOf<All extends Options> = {
  readonly [Names in keyof All & string as CamelCase<LongName<Names>>]?: ValueOf<Names, All[Names]>;
};

type LongName<Names extends string> = Names extends `--no-${infer Name}`
  ? Name
  : Names extends `--${infer Name} <${string}`
    ? Name
    : Names extends `--${infer Name}`
      ? Name
      : never;

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type ValueOf<Names extends string, Help> = Names extends `${string}...>`
  ? readonly string[]
  : Names extends `${string}>`
    ? Help extends readonly [string, (value: string) => infer Value]
      ? Value
      : Help extends readonly [string, readonly (infer Word)[]]
        ? Word
        : string
    : boolean;
