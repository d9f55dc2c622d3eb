/** The model's first answer is wrong: the error is added to the prompt, and the second answer passes. */
import { generateAndParse } from 'sluice/json';
import { z } from 'zod';

const Verdict = z.object({ verdict: z.enum(['buy', 'hold', 'sell']), confidence: z.number().min(0).max(1) });

/** Replaces a real model: returns these answers, one per call. */
function createModel(...answers: string[]) {
  return async ({ attempt }: { readonly attempt: number }): Promise<string> => answers[attempt - 1] ?? '';
}

for (const language of ['en', 'zh'] as const) {
  const call = createModel(
    'I would say {"verdict": "strong buy", "confidence": 0.9}',
    '{"verdict": "buy", "confidence": 0.9}',
  );
  const value = await generateAndParse(call, Verdict, {
    prompt: 'Judge ACME. Answer with a JSON object.',
    retryPrompt: language,
    maxRetries: 1,
    label: 'judge/verdict',
    onAttempt: ({ attempt, prompt, result }) => {
      console.log(`attempt ${attempt}: ${result.status}\n${prompt.replaceAll(/^/gm, '  | ')}`);
    },
  });
  console.log(`${value.verdict} at ${value.confidence}\n`);
}
