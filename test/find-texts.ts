import { parseSync } from '@swc/core';

/** Attributes whose values are names for programs. */
const NAMES = new Set(['class', 'id', 'key', 'href', 'style', 'type', 'role', 'for', 'autocomplete', 'aria-controls']);
/** Attributes that are read or heard: they contain no word outside the catalogue. */
const TEXTS = /^(?:title|alt|placeholder|label|caption|aria-(?:label|description|roledescription|valuetext))$/;
/** Two words, or a capitalized one. */
const PROSE = /\p{L}[,;:.]? \p{L}|^\s*\p{Lu}\p{Ll}/u;
/** The names of keys, and lists of class names. */
const NOT_PROSE = /^(?:(?:Ctrl\+)?(?:Enter|Escape|Esc|Home|End|Shift|Arrow\w+|\w)(?: |$))+$|^[a-z]+ [a-z]+-[a-z]+$/;

/** Functions that read a selector. */
const SELECTORS = /^(?:closest|matches|querySelector(?:All)?)$/;

type Node = Readonly<Record<string, unknown>>;

/** Finds the texts that a component or a function shows without the catalogue, by walking its syntax tree. */
export function findTexts(source: string): readonly string[] {
  const found: string[] = [];
  const add = (value: unknown, pattern: RegExp): void => {
    const text = String(value).replaceAll(/\s+/g, ' ');
    if (pattern.test(text) && !NOT_PROSE.test(text)) found.push(text.trim());
  };
  const visit = (value: unknown, isRead: boolean): void => {
    if (Array.isArray(value)) for (const part of value) visit(part, isRead);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const node = value as Node;
    const pattern = isRead ? /\p{L}/u : PROSE;
    const isLiteral = (part: unknown): boolean => (part as Node)['type'] === 'StringLiteral';
    switch (node['type']) {
      case 'JSXText':
        return add(node['value'], /\p{L}/u);
      case 'StringLiteral':
        return add(node['value'], pattern);
      case 'TemplateLiteral':
        for (const { raw } of node['quasis'] as readonly { raw: string }[]) add(raw, pattern);
        return visit(node['expressions'], isRead);
      case 'JSXAttribute': {
        const name = String((node['name'] as Node)['value']);
        return NAMES.has(name) ? undefined : visit(node['value'], TEXTS.test(name));
      }
      case 'BinaryExpression':
        // A comparison with a name.
        return visit(
          [node['left'], node['right']].filter((side) => !isLiteral(side)),
          isRead,
        );
      case 'SwitchCase':
        return visit(node['consequent'], isRead);
      case 'CallExpression': {
        const { property } = node['callee'] as { readonly property?: Node };
        const isSelector = SELECTORS.test(String(property?.['value']));
        return visit([node['callee'], isSelector ? [] : node['arguments']], false);
      }
      case 'JSXElement': {
        const { name } = node['opening'] as { readonly name: Node };
        // Code is the same in every language.
        return visit([node['opening'], name['value'] === 'code' ? [] : node['children']], false);
      }
      // Types, modules, and templates with a tag, which are code or samples.
      case 'ImportDeclaration':
      case 'TaggedTemplateExpression':
      case 'TsTypeAliasDeclaration':
      case 'TsInterfaceDeclaration':
      case 'TsTypeAnnotation':
      case 'TsTypeParameterInstantiation':
      case 'TsLiteralType':
        return;
      default:
        visit(Object.values(node), isRead);
    }
  };
  visit(parseSync(source, { syntax: 'typescript', tsx: true }), false);
  return found;
}
