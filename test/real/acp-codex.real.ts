import { describeAcpAgent } from './describe-acp-agent.js';

describeAcpAgent('codex-acp');
