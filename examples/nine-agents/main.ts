/**
 * Nine agents in three contexts share one parser. An agent is a schema and, if its model needs it, a normalizer; a
 * context has its own error, so callers do not depend on the parser.
 */
import { readBearCase } from './debate/bear-advocate.js';
import { readBullCase } from './debate/bull-advocate.js';
import { DebateOutputError } from './debate/debate-output.js';
import { readResolution } from './debate/resolution.js';
import { JudgeOutputError } from './judge/judge-output.js';
import { readVerdict } from './judge/verdict.js';
import { readCatalysts } from './research/catalyst-detective.js';
import { readAudit } from './research/financial-auditor.js';
import { readMacroView } from './research/macro-intelligence.js';
import { ResearchOutputError } from './research/research-output.js';
import { readTechnicalView } from './research/technical-analyst.js';
import { readValuation } from './research/valuation-modeler.js';

const AGENTS: readonly (readonly [name: string, read: (raw: string) => unknown, raw: string])[] = [
  [
    'research/valuation_modeler',
    readValuation,
    '```json\n{"verdict": "Cheap", "fair_value": 42.5, "method": "DCF,\nten years"}\n```',
  ],
  [
    'research/macro_intelligence',
    readMacroView,
    '<think>{"regime": "?"}</think>{"regime": "slowdown", "drivers": ["rates"]}',
  ],
  [
    'research/catalyst_detective',
    readCatalysts,
    'Here it is: {"catalysts": [{"event": "earnings", "expected_on": "2026-11-20"}]}',
  ],
  ['research/technical_analyst', readTechnicalView, '{"trend": "up", "support": 38, "resistance": 45}'],
  ['research/financial_auditor', readAudit, '```\n{"quality": 7, "red_flags": []}\n```'],
  [
    'debate/bull_advocate',
    readBullCase,
    '{"thesis": "Buy", "supporting_arguments": [{"argument": "margins grow", "evidence": "10-Q"}]}',
  ],
  ['debate/bear_advocate', readBearCase, '{"thesis": "Sell", "supporting_arguments": ["debt is due"]}'],
  ['debate/resolution', readResolution, 'The bull was stronger.'],
  ['judge/verdict', readVerdict, '{"action": "buy", "confidence": 1.7, "reasons": []}'],
];

/** A context would catch only its own error; this program uses all three. */
function isRejection(error: unknown): error is ResearchOutputError | DebateOutputError | JudgeOutputError {
  return [ResearchOutputError, DebateOutputError, JudgeOutputError].some((kind) => error instanceof kind);
}

for (const [name, read, raw] of AGENTS) {
  try {
    console.log(`${name}: ${JSON.stringify(read(raw))}`);
  } catch (error) {
    if (!isRejection(error)) throw error;
    console.log(`${name}: ${error.name}: ${error.message}`);
  }
}
