/**
 * What is known already, or comes later. A tree read from a cache is walked without a single promise;
 * thousands of them would cost more than the reading.
 */
export type Maybe<T> = T | Promise<T>

export function then<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

export function all<T>(values: readonly Maybe<T>[]): Maybe<readonly T[]> {
  return values.every(isKnown) ? values : Promise.all(values)
}

function isKnown<T>(value: Maybe<T>): value is T {
  return !(value instanceof Promise)
}
