# What the built program says about itself, as files to install: the manual, completions for shells, the schema of models.
#
#   cmake -DPROGRAM=build/hinge -DFOLDER=build/share -P cmake/write_share.cmake

foreach(what "man:man/man1/hinge.1" "completion bash:bash-completion/completions/hinge"
             "completion zsh:zsh/site-functions/_hinge" "completion fish:fish/vendor_completions.d/hinge.fish"
             "schema:hinge/model.schema.json")
  string(REPLACE ":" ";" parts "${what}")
  list(GET parts 0 command)
  list(GET parts 1 file)
  separate_arguments(command)
  get_filename_component(folder "${FOLDER}/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${PROGRAM}" ${command} OUTPUT_FILE "${FOLDER}/${file}" RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${PROGRAM} ${command} failed: ${failed}")
  endif()
endforeach()
