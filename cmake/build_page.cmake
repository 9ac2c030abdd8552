# Makes PAGE, the report page in one file, from the folder WEB with npm. Run by the build (cmake -P), again only when
# something in web/ has changed. It never fails and never waits for ever: where the page cannot be made it is an empty
# file, and the program explains what is missing when a report is asked for.
#
#   cmake -DNPM=npm -DWEB=web -DPAGE=build/page/index.html -P cmake/build_page.cmake

get_filename_component(folder "${PAGE}" DIRECTORY)
file(MAKE_DIRECTORY "${folder}")
set(log "${folder}/npm.log")
file(WRITE "${log}" "")

function(leave_out why)
  message("The report page is left out: ${why} (${log} has more). 'hinge run --report' will say so; to try again: rm ${PAGE}, then make")
  file(WRITE "${PAGE}" "")
endfunction()

function(npm_run seconds ok)
  execute_process(COMMAND "${NPM}" ${ARGN} WORKING_DIRECTORY "${WEB}" TIMEOUT ${seconds}
                  RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  file(APPEND "${log}" "npm ${ARGN}\n${out}\n${result}\n")
  if(result EQUAL 0)
    set(${ok} ON PARENT_SCOPE)
  else()
    set(${ok} OFF PARENT_SCOPE)
  endif()
endfunction()

# What npm has installed last is newer than the lock file, or is installed again.
set(installed "${WEB}/node_modules/.package-lock.json")
if(NOT EXISTS "${installed}" OR "${WEB}/package-lock.json" IS_NEWER_THAN "${installed}")
  # packages only: no scripts of theirs, no questions, no telling of news
  npm_run(180 ok ci --ignore-scripts --no-audit --no-fund --no-update-notifier --prefer-offline --fetch-retries=1
          --fetch-timeout=20000)
  if(NOT ok)
    leave_out("npm could not install its packages, as without a network")
    return()
  endif()
endif()
npm_run(120 ok run --silent build -- --outDir "${folder}/made" --emptyOutDir --logLevel error)
if(NOT ok OR NOT EXISTS "${folder}/made/index.html")
  leave_out("npm could not build it; Node.js 18 or later is needed")
  return()
endif()
file(COPY_FILE "${folder}/made/index.html" "${PAGE}")
