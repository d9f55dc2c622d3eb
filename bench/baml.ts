/** The parsing part of BAML's runtime. */
interface BamlRuntime {
  createContextManager(): unknown;
  parseLlmResponse(
    functionName: string,
    text: string,
    partial: boolean,
    context: unknown,
    types: null,
    clients: null,
    env: object,
  ): unknown;
}

/** BAML reads only declared types: these are the types of the bench inputs. */
const TYPES = `
class Range {
  start int
  end int
}
class Finding {
  id int
  file string
  line int
  severity string
  message string
  tags string[]
  score float
  solved bool
  note string?
  range Range
}
class Report {
  findings Finding[]
}
class Verdict {
  verdict string
  score float
  reasons string[]
}
client<llm> Nobody {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
function ReadReport() -> Report {
  client Nobody
  prompt #"{{ ctx.output_format }}"#
}
function ReadVerdict() -> Verdict {
  client Nobody
  prompt #"{{ ctx.output_format }}"#
}
`;

/** Creates a function that reads a report, or a verdict if the input contains one. */
export function makeBamlReader(exported: Readonly<Record<string, unknown>>): (text: string) => unknown {
  const { BamlRuntime, setLogLevel } = exported as {
    readonly BamlRuntime: { fromFiles(root: string, files: object, env: object): BamlRuntime };
    readonly setLogLevel: (level: string) => void;
  };
  setLogLevel('off');
  const runtime = BamlRuntime.fromFiles('bench', { 'bench.baml': TYPES }, {});
  const context = runtime.createContextManager();
  return (text) => {
    const name = text.includes('"verdict"') ? 'ReadVerdict' : 'ReadReport';
    return runtime.parseLlmResponse(name, text, false, context, null, null, {});
  };
}
