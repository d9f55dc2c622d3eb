import { describeAcpAgent } from './describe-acp-agent.js';

describeAcpAgent('gemini-acp');
