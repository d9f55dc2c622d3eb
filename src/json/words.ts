// The words around a value that choose or dispute it. In a list, each line is a language: English, German, French with
// Spanish, Italian and Portuguese, Russian, Chinese with Japanese, Korean. A rule has one phrase per line. Words are cut
// to what their forms share: `apolog` is in "apologies" and in "apologize".

/** Compiles lines as alternatives; inserted lists are part of their line. */
function compile(template: TemplateStringsArray, ...lists: readonly RegExp[]): RegExp {
  const lines = String.raw(template, ...lists.map(({ source }) => source));
  return new RegExp(lines.trim().replaceAll('\n', '|'), 'iu');
}

const IT = /(it|that|this)/;
/** Between words and a value: a colon, quotes. */
const UP_TO_VALUE = /[\s:：`"*]{0,9}$/;
const APOLOGY = compile`
apolog|e?xcus|sorry
entschuld
d[eé]s(ol|cul)|lo siento|p[ae]rd[oó]n|scus`;
const MISTAKE = compile`
err(ad|eur|on|or)|incorre|mis(read|take|took)|wrong
falsch|fehler|verwechsel
equivo[cq]|sbagl|tromp`;

/** Words between two values that favor the later value. */
export const CORRECTION = compile`
\b(actually|conclu|correct[aeio]|disregard|edit\b|error|fix|forgot|go with|hence|hold on|ignore|instead|judge:|meant|must be|mistake|my bad|no, $|now:? $|not (quite|right)|oops|outdated|overrul|re(calculat|consider|flection|plac|vis)|scratch|should be|so,? $|strike|second thought|therefore|update|wait|winner:|(is|was|be) wrong)
\b(korr|richtig)
\b(corre[gt]|erreur|mejor|${APOLOGY})
извин|правильн
最终|正确|更正|再|重新|应[该为]|訂正
죄송|ошиб|不对|有误|错|誤|間違|잘못
^\s?[—–](?! (and|or))|^.{0,3}(→|[-=]>)|[.?!]\s+no\b[.,:]|^\n\+`;
/** Words before a value that rule it out as the answer. */
export const DEMOTION = compile`
\b(debug|e\.g|(?<![./@])example(?!\.\w)|exempl|(?<!(desired|requested|required|specified) )format[eo]?\b(?! (that )?you)|guess|instance|instead of|statt|lugar de|lieu de|(un)?like|reasoning|s(chema(?! (ask|expect|requir|want))|hape|tructure\b)|such as|template|thinking)
例|格式|예시
(~~|<(del|s)>|(^|\n)>.*)$
\b(the form|(you|user) (gave|said|sent|wrote)( me)?( this)?):?\s+$
\bwhat not to
\b(rather than|\w+ed from|changed?|replaced|it (was|would be)|originally[^.:;\n]{0,40}) $
\b(not|never|n't|previous(ly)?|former(ly)?|earlier|old|user|last|below|yesterday)\b[^.:;\n]{0,40}$`;
/** Words before a value that rule it out as the answer if it follows another value. */
export const AFTERTHOUGHT = compile`
\b(would|wrong)\b(?!.*\b(but|is|should)\b)[^.:;\n]{0,40}$
\b(if|once|unless)\b[^.:;\n]{0,80}$
\b(since|because)\b[^.:;\n]{0,20}$`;
/** Words that introduce a value as secondary: an alternative, a condition, a comparison. */
export const ASIDE = compile`
\b(alter|ano|autre|bonus|compar|could|default|fall|if\b|eventue|in case|lieber|might|oder|once|op(tion|ci)|ou\b|other|otr|outr|pr[eé]f[eé]r|runner|si\b|scenario|usage|used|vari|wenn|would|yesterday)
若|或者?|또는|или`;
/** Words that introduce a value as another part of the answer. */
export const CONTINUATION = compile`\b(a(dd|lso|nd\b)|continu|more\b|next|or\b|part|rest\b|second)`;
/** A turn of a person between two answers, and a turn that corrects the first answer. */
export const QUESTION = compile`
(^|\n)[\s#*]{0,9}(user|human|q|question|instruction) ?\d*([:：]|\*|\n)
\n[^\n?]*\?[ *]{0,9}$`;
export const OBJECTION = compile`
\b(again|no,|not|must|should|wrong)\b
n't`;
/** Words that offer the later value in place of the earlier one, or both for the reader to choose. */
export const OFFER = compile`\bif (you|we)(['’]d| also| like| need| prefer| want| would)\b`;
export const REQUEST = compile`\bwhich (do|of|one|would|you)\b`;
/** After the words of a label right before a value and its fence: `Final answer:`, `### Output`, `<answer>`. */
const LABEL_END = /[^\n:：>.]{0,40}([:：>→\n]| is)[\s*_`]{0,9}$/;
export const NON_ANSWER_LABEL = compile`(?<![a-z])(input|original\b|before|previous|current|first (attempt|try|version)|old|initial|draft|sample|step|cached|action|attempt 1|scratch|rough|skeleton|unsorted|prelim|so far|first impression|v1|second.best|observation|plan|expected|tool|wrong|bad|incorrect|beispiel|entwurf|e[jsx]emp|przyk|örnek|ví dụ|пример|مثال|उदाहरण|草稿|예|초안)${LABEL_END}`;
export const ANSWER_LABEL = compile`(?<![a-z])(correct|good|better|best(?! case)|answer|output|result|response|final|filled|polished|complete|solution|actual|updated|new|my\b|sorted|mean|merged|consensus|booked|tie.br|antwort|endg|svar|odpow|cevap|kết quả|respuesta|ответ|الإ|उत्तर|答|定稿|답|최종)${LABEL_END}`;

/**
 * A negation right before the value. With a word between them it must be a verb whose object is the value: `not found:`
 * describes what is in it.
 */
export const NEGATION = compile`
(\b(not|never|anything but|nicht|keine?|n'est pas|no es|non è)|n't|\bне|不是)${UP_TO_VALUE}
^\W*(do(n't| not)|never) \w+${UP_TO_VALUE}
\b(can|could|may|might|would) look like( this)?${UP_TO_VALUE}
\b(tempt\w* to \w+|wrong (\w+ )?would be|wrong to \w+|wäre falsch|(avoid|beware of|watch out for) [\w ]{1,40} (such as|like))${UP_TO_VALUE}
\b((not|never|n't)( to)? \w+|avoid( \w+ing)?)[\s\x60"*]{0,9}$`;
/** A statement before or after the value that it is not the answer, or that its parts have to be replaced. */
export const DISCLAIMER = compile`
(\b(not|nicht|n'est pas|no es|non è)|n['’]t) (an?|die|la|m[aeiy]\w*|the)( \w{1,20}){0,2} (answer|antwort|output|r[ei]sp\w+|réponse|result)\b
\bvalues are dumm
\b(fill|put|replace|swap)\b[^.\n]{0,40}\b(bracketed|own|real|your)\b`;
/** A sentence that holds only under a condition, a hypothesis right before the value, words or a quotation of someone else. */
export const CONDITION = compile`
^\W{0,9}(if (?!I |you (\w+ )?(like|need|prefer|want))|unless|assuming|once|falls|wenn|s(['’]i|i |e )|если|如果|假如|もし|만약)
\b(could|might|would) (have )?\w+${UP_TO_VALUE}
\b(w[äü]rd?e|sähe)\b[^.\n]{0,40}$
\bI (assum|guess)\w*${UP_TO_VALUE}
(?<!\b(I|we|you) )\b(claim|expect|insist|said|sent|wrote)\w*\b[^.\n]{0,30}$
^([^"]*"[^"]*")*[^"]*"(?=[^"]*\p{L})[^"]*$`;
/** How a correction after the value starts. */
const SECOND_THOUGHT = compile`
actually|hold on|on (reflection|second thought)|oops|scratch that|wait|(correction|edit|errata|update)\b[^,:.\n]{0,20}[,:]|(hmm|moment|no) ?[,:]
korrektur\b[^,:.\n]{0,20}[,:]
${APOLOGY}`;
/**
 * Words after the value: a correction, not an offer to correct it; a mention of the answer with an error; what takes the
 * value back, or calls it invented or a template.
 */
export const RETRACTION = compile`
\n(a|answer|output|re(sponse|sult)):\s*$
(^|[.!?\n]\s{0,9}|[—–-] ?)(no,? )?(${SECOND_THOUGHT})((?!\b(if|for|about|für|pour)\b)[^]){0,60}?((?<=[,:=] ?|\b(be|es|is|now|sind|son) |'s )\d|forgot|should|(?<!\b(any|no|not|without) )(${MISTAKE}))
(?<!\b(falls|if|original|previous|si|wenn|your)\b[^.\n]{0,20})\b(above|anterior|answer|oben|output|results?|r[ei]sp\w+sta|values?)\b[^.\n]{0,30}(?<!\b(any|no|not|without) )(${MISTAKE})
^(?!如|もし)[^]{0,40}(ошиб|不对|有误|错|誤|間違(?!いが)|잘못)
更正|应[该为]|訂正|正しくは|정정
nicht verwend|取り消|撤回
\b(disregard|forget|ignor\w*|retract|strike) ([^.\n]{0,20}\b(above|anterior|answer)|it|my|that|this)\b
(^(which )?|(?<!\bif )\b${IT}('s| ))(is |was )?(\w+ly )?(a (bug|mistake)|incorrect|not (correct|right)|wrong)
^(but|which) (that )?(is|I \w+)( not|n['’]t)\b
\b${IT}( can(no|['’])t be right| do\w+( not|n['’]t) add up)
\btake that back
\bdo( not|n['’]t) (trust|use) (it|th)
^(${IT}|what)\b[^.\n]{0,40} (before|prior to) (\w+ )?(chang|fix|patch)
\b(it|th(at|e (above|data|numbers?|values?)|ese|is)|values)\b[^.\n]{0,30}\b(dumm\w+|examples?|fabricated|fake|invented|made[- ]up|mock|placeholders?|samples?)(?= (because|data|for|output|response|values?)\b|[.,;)]|$)
\b(should|would) look like\b
\b(above|that|this) is the (\w+ )?(format|schema|structure|template)\b
\b(nur|seulement|sólo|solo|só|apenas|только) [^.\n]{0,12}(beispiel|e[jx]emp|пример)|只是.{0,4}(例|模板)|の例です|置き換え
\bI (\w+ )?(invented|made \w+ (\w+ )?up)
^(as \w+ |(${IT}( is|'s) )?((just|only) )?(an? )?)(dummy|example|mock|placeholder|skeleton|template)\b`;
/** Another possible value, or a question, after the value. */
export const OTHER_VALUE = compile`
\b(could|may|might) (\w+ ){0,2}be ["'\x60]?[-\d]
^[?？](?! yes)`;
/** Words after a list that say that it goes on. */
export const ABRIDGED = compile`
\bI (left out|omit|skip)
\b(just|only) (\w+ )?the first\b
\b(includ|list|show)\w* \w+ (out )?of (the )?\d
^(\w+:? ){0,2}truncated\b
省略`;
/** A refusal, or something missing that is needed for an answer. */
export const REFUSAL = compile`
(^|\b)(${APOLOGY})
\b(cannot|not(?! sure)|never|no \w+ can|nothing|unable|(no|without) (access|data|(\w+ ){1,2}(attach|avail|given|provid)\w*)|failed(?=[.!])|refuse|unreadable|need (the|your) \w+ to|what (should|would) (I|you))\b|n['’]t\b
\bkann\b[^.]{0,40}\bnicht\b
\b(pas|no (se )?pued[eo]|posso)\b
не могу
无法|不能|ません`;
export const NEGATIONS = /\b(never|not)\b|n['’]t\b/gi;
/** A clause before the value that states it, whatever the words before the clause say. */
export const STATEMENT = compile`[,:] the [^,:]* (gives|says|shows|states)[: ]*$`;
