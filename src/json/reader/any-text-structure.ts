import * as State from './state.js';
import type * as Step from './step.js';
import { isContainer } from '../limits.js';
import { Structure } from './structure.js';

const CALL = /[\p{L}_$][\p{L}\p{N}_$.]*[ \t]*\(/uy;
/** A member after the root, which was closed too early. */
const NEXT_MEMBER = /"[^"\n]{0,256}"\s{0,64}:/y;
/** A wrong bracket after which the open list or object continues. */
const CONTINUES = /}\s{0,64},\s{0,64}["{[\d][^]{0,4096}\]|]\s{0,64},\s{0,64}"[^"\n]{0,256}"\s{0,64}:/y;
/** A member in a list that was left open: the next closing bracket belongs to its object. */
const MEMBER_OUTSIDE = /:[^[\]{}]{0,4096}}/y;

/**
 * The extra structure that `repairJson` accepts: function calls around values, several values in one input, members
 * outside their object, and `null` for a missing value.
 */
export class AnyTextStructure extends Structure {
  #openCalls = 0;
  /** Multiple roots are being collected in an implicit array: the end of the input closes it. */
  #rootsWrapped = false;

  /** Skips the start of a function call, which is replaced by its argument. Returns whether a call was found. */
  enterCall(): boolean {
    const length = this.cursor.matchHere(CALL);
    if (length === -1 || this.role === State.KEY) return false;
    this.cursor.repair('function_call');
    this.cursor.at += length;
    this.#openCalls++;
    this.insideCall = true;
    return true;
  }

  override finish(): void {
    const { builder, state, cursor } = this;
    if (builder.openDepth > 0 && cursor.hasHiddenValues)
      cursor.fail(cursor.at, 'TRUNCATED', 'A comment contains the rest of the value');
    if (this.#rootsWrapped && builder.openDepth === 1 && (state === State.ITEM || state === State.AFTER)) {
      builder.close();
      this.endValue();
    }
    // A truncated key might be the start of an existing one.
    if (this.awaitsValue && builder.last === undefined) builder.place(null);
    super.finish();
  }

  protected override stepAfter(char: string): Step.StructureStep {
    const { builder, cursor } = this;
    if (char === ')' && this.insideCall) {
      this.insideCall = --this.#openCalls > 0;
      return this.advance();
    }
    if (char === ')' && !this.isComplete) return this.stepClose(builder.inArray ? ']' : '}');
    if (char === ':' && !this.isComplete) {
      const isOutside = builder.otherAbove && cursor.matchHere(MEMBER_OUTSIDE) !== -1;
      if (isOutside) cursor.repair('missing_bracket');
      if (this.#useLastAsKey(isOutside)) return this.advance(State.MEMBER);
    }
    return super.stepAfter(char);
  }

  /**
   * The last string placed in a list was a key: an object replaces it or, if the list was left open, it belongs to the
   * enclosing object. The next value becomes the member's value.
   */
  #useLastAsKey(isOutside: boolean): boolean {
    const { builder } = this;
    const { last } = builder;
    if (!builder.inArray || typeof last !== 'string') return false;
    if (isOutside) {
      builder.removeLast();
      builder.close();
    } else {
      builder.reopenLast();
      builder.open(false);
    }
    builder.setKey(last, 0);
    return true;
  }

  /** Handles members that belong to the root, or another root, after a comma or a line break. */
  protected override startNextRoot(): Step.StructureStep {
    const { builder, cursor, rootEnd } = this;
    const { root } = builder;
    if (!this.rootCommaSeen && !cursor.text.slice(rootEnd, cursor.at).includes('\n')) return this.refuse();
    builder.reopenLast();
    const isMember = this.rootCommaSeen && cursor.matchHere(NEXT_MEMBER) !== -1;
    if (isMember && isContainer(root) && !Array.isArray(root)) {
      cursor.repair('extra_bracket', rootEnd - 1);
      builder.open(false, root);
      return this.goTo(State.KEY);
    }
    cursor.repair('several_values');
    builder.open(true, [root]);
    this.#rootsWrapped = true;
    return this.goTo(State.ITEM);
  }

  protected override isSuperfluous(isOther: boolean): boolean {
    return isOther ? this.cursor.matchHere(CONTINUES) !== -1 : this.#rootsWrapped && this.builder.openDepth === 1;
  }

  protected override skipValue(): Step.StructureStep {
    this.builder.place(null);
    return super.skipValue();
  }
}
