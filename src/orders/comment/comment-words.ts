import type { Decision, Resolution } from '../../store/records/index.js';

/** The words of comments in one language. Lines such as `RunId: …` are the same in all, because programs read them. */
export interface CommentWords {
  /** The titles of the sections that differ from their names. */
  readonly titles: Readonly<Record<string, string>>;
  readonly evidence: Readonly<Record<EvidenceGroup, string>>;
  readonly inRun: (run: string) => string;
  readonly more: (count: number) => string;
  readonly moreCharacters: (count: number, run: string) => string;
  /** The sentence before the reason, which is in English; empty if the reason says it. */
  readonly outcome: Readonly<Record<Decision['action'] | Resolution['action'], string>>;
}

/** Unchecked evidence has two groups: the agent's claims, and checks that Sluice could not run. */
export type EvidenceGroup = 'contradicted' | 'verified' | 'reported' | 'unchecked';

const ENGLISH: CommentWords = {
  titles: {},
  evidence: {
    contradicted: 'Contradicted',
    verified: 'Verified by Sluice',
    reported: 'Reported, not verified',
    unchecked: 'Not checked',
  },
  inRun: (run) => ` (run ${run})`,
  more: (count) => `and ${count} more`,
  moreCharacters: (count, run) => `… ${count} more characters in the result of run ${run}`,
  outcome: {
    advance: '',
    'needs-human': '',
    blocked: '',
    archive: '',
    accept: '',
    edit: '',
    reject: '',
    retry: '',
  },
};

const CHINESE: CommentWords = {
  titles: {
    Summary: '摘要',
    Changes: '改动',
    Tests: '测试',
    Evidence: '证据',
    BlockedBy: '受阻于',
    OpenQuestions: '待解决的问题',
    Next: '下一步',
  },
  evidence: {
    contradicted: '不符',
    verified: '经 Sluice 核实',
    reported: '智能体所报，未核实',
    unchecked: '未检查',
  },
  inRun: (run) => `（运行 ${run}）`,
  more: (count) => `还有 ${count} 项`,
  moreCharacters: (count, run) => `… 运行 ${run} 的结果里还有 ${count} 个字符`,
  outcome: {
    advance: '工单推进到 review。',
    'needs-human': '需要人来决定。',
    blocked: 'issue 受阻。',
    archive: '结果已归档。',
    accept: '结果被接受。',
    edit: '结果修改后被接受。',
    reject: '结果被拒绝。',
    retry: '工单重试。',
  },
};

/** The words of each language. */
export const COMMENT_WORDS = { en: ENGLISH, zh: CHINESE };
